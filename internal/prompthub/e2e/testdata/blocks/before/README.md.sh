make install
printf 'act,prompt,for_devs,type,contributor\nPoet,Write a poem on {{thing}}.,FALSE,TEXT,ann\n' >prompts.csv
