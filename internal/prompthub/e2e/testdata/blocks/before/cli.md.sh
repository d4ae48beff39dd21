make install
make run
