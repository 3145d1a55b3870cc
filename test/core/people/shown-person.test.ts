import { describe, expect, test } from 'vitest';
import { personsShown, shownPerson } from '../../../src/core/people/directory.ts';
import { visibleText } from '../../../src/text/visible-text.ts';

describe('a person is shown by name and id', () => {
  test.each<[string, string | undefined, string]>([
    ['8f3c', 'Ann Lee', 'Ann Lee (8f3c)'],
    ['8f3d', 'Ann Lee', 'Ann Lee (8f3d)'],
    ['ann', undefined, 'ann'],
    ['ann', 'ann', 'ann'],
    ['ann', ' ', 'ann'],
    ['8f3c', 'Müller, Anna (extern)', 'Müller, Anna [extern] (8f3c)'],
    // Nobody passes for another id.
    ['8f3c', 'Ann Lee (8f3d)', 'Ann Lee [8f3d] (8f3c)'],
    ['8f3c', '8f3d', '8f3d (8f3c)'],
    ['8f3c', 'x'.repeat(80), `${'x'.repeat(60)}… (8f3c)`],
  ])('%s, %s', (id, name, shown) => expect(shownPerson(id, name)).toBe(shown));

  test.each([
    ['Ann\u202e\u200b', String.raw`Ann\u{202E}\u{200B} (8f3c)`],
    ['\uff088f3d\uff09', String.raw`\u{FF08}8f3d\u{FF09} (8f3c)`],
    ['\u0421apa', String.raw`\u{0421}apa (8f3c)`],
  ])('%j, made visible', (name, shown) => expect(visibleText(shownPerson('8f3c', name))).toBe(shown));
});

describe('the name of the directory comes first', () => {
  const people = { ann: { name: 'Ann Lee', also: ['u-17'] }, bob: { also: ['u-18'] } };
  test.each<[string, string | undefined, string]>([
    ['ann', undefined, 'Ann Lee (ann)'],
    ['Ann', 'Boss', 'Ann Lee (Ann)'],
    ['u-17', 'Boss', 'Ann Lee (u-17)'],
    ['u-18', 'Bob', 'Bob (u-18)'],
    ['carl', undefined, 'carl'],
    ['constructor', undefined, 'constructor'],
  ])('%s, %s', (id, name, shown) => expect(personsShown(people)(id, name)).toBe(shown));

  test.each<[unknown]>([[undefined], [7], [[]], [{ ann: null }], [{ ann: { name: 7, also: 'x' } }]])('of %j', (odd) =>
    expect(personsShown(odd as never)('ann', 'Ann')).toBe('Ann (ann)'),
  );
});
