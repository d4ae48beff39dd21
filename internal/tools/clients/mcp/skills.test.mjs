// skills-ref, the reference library for Agent Skills: every skill in the folder SKILLS is valid.
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { validate } from 'skills-ref';

test('skills are valid', async () => {
  const names = await readdir(process.env.SKILLS);
  assert(names.length > 0);
  const wrong = [];
  for (const name of names) {
    for (const error of await validate(join(process.env.SKILLS, name))) wrong.push(`${name}: ${error}`);
  }
  console.log(`${names.length} skills`);
  assert.deepEqual(wrong, []);
});
