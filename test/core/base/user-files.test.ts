import { describe, expect, test } from 'vitest';
import { storedLimits } from '../../../src/core/base/size-limits.ts';
import {
  filesProblem,
  filesText,
  readUserFiles,
  saidText,
  shownFile,
  withoutData,
} from '../../../src/core/base/user-files.ts';

const png = 'data:image/png;base64,iVBORw0K';
const picture = { mediaType: 'image/png', url: png };
const pdf = { mediaType: 'application/pdf', url: 'https://files.example.com/a.pdf' };
const ofBytes = (bytes: number) => ({
  mediaType: 'image/png',
  url: `data:image/png;base64,${'A'.repeat((bytes * 4) / 3)}`,
});

describe('what is a file of a message', () => {
  test.each<[string, unknown]>([
    ['a picture', [picture]],
    [
      'with a name and a place',
      [
        { ...picture, filename: 'a "cat".png', at: 2 },
        { ...picture, at: 5 },
      ],
    ],
    ['an address', [pdf]],
    ['an address with a port and a query', [{ ...pdf, url: 'https://files.example.com:8443?a=b#c' }]],
    ['as much as is taken', [ofBytes(storedLimits.fileBytes - 1)]],
  ])('%s', (_what, files) => {
    expect(readUserFiles(files, 'Hello')).toEqual({ files });
  });

  const malformed = `needs a 'url' that begins with data:image/png;base64, or is an https address of at most 2000 visible characters without a user name`;
  test.each<[string, unknown, string]>([
    ['no list', 'a.png', `'files' must be a list, not a string`],
    ['none', [], `'files' must have 1 to 20 files`],
    ['too many', Array.from({ length: 21 }, () => picture), `'files' must have 1 to 20 files`],
    ['nothing', [null], `'files.0' must be an object, not null`],
    ['an unknown member', [{ ...picture, data: 'x' }], `'files.0' has an unknown field 'data'`],
    ['no type', [{ url: png }], `'files.0' needs 'mediaType', such as image/png: lower case, without parameters`],
    [
      'a type with a parameter',
      [{ mediaType: 'image/png;a=b', url: png }],
      `'files.0' needs 'mediaType', such as image/png: lower case, without parameters`,
    ],
    ['no URL', [{ mediaType: 'image/png' }], `'files.0' needs 'url': a data URL, or an https address`],
    ['no data', [picture, { ...picture, url: 'data:image/png;base64,' }], `'files.1' has no data`],
    ['data of another type', [{ ...picture, url: 'data:image/jpeg;base64,AAAA' }], `'files.0' ${malformed}`],
    ['data that is not base64', [{ ...picture, url: 'data:image/png,AAAA' }], `'files.0' ${malformed}`],
    ...['file:///etc/passwd', 'http://a.example/a.png', 'javascript:alert(1)', 'gs://bucket/a', 'HTTPS:a', ''].map(
      (url): [string, unknown, string] => [`the URL '${url}'`, [{ ...picture, url }], `'files.0' ${malformed}`],
    ),
    [
      'a user name',
      [{ ...pdf, url: 'https://files.example.com@evil.example/a' }],
      malformed.replace('image/png', 'application/pdf'),
    ],
    ['a blank', [{ ...picture, url: 'https://a.example/a b' }], malformed],
    ['a long address', [{ ...picture, url: `https://a.example/${'a'.repeat(2_000)}` }], malformed],
    [
      // Of OpenAI, this would be a file that somebody else has stored there.
      'the id of a file in the place of data',
      [{ ...picture, url: 'data:image/png;base64,file-abc' }],
      `'files.0.url' is no base64`,
    ],
    ['three characters', [{ ...picture, url: 'data:image/png;base64,AAA' }], `'files.0.url' is no base64`],
    ['a long name', [{ ...picture, filename: 'a'.repeat(201) }], `'filename' that is not text of 1 to 200`],
    ['half a surrogate pair as a name', [{ ...picture, filename: '\ud800' }], `'filename' that is not text`],
    ['a place beyond the text', [{ ...picture, at: 6 }], `'files.0' has an 'at' that is no place`],
    [
      'a place before the file before',
      [
        { ...picture, at: 3 },
        { ...picture, at: 2 },
      ],
      `'files.1' has an 'at'`,
    ],
    ['a place of another kind', [{ ...picture, at: '1' }], `'files.0' has an 'at'`],
    [
      'more than is taken',
      [ofBytes(storedLimits.fileBytes - 1), ofBytes(3)],
      'the files have 4.1 MB in all; at most 4 MB',
    ],
  ])('refused: %s', (_what, files, problem) => {
    expect(readUserFiles(files, 'Hello')).toEqual({
      problem: {
        code: expect.stringMatching(/^(invalid_message|too_large)$/),
        message: expect.stringContaining(problem),
      },
    });
  });

  test('a place in the middle of a character', () => {
    expect(readUserFiles([{ ...picture, at: 1 }], '😀')).toHaveProperty('problem');
    expect(readUserFiles([{ ...picture, at: 2 }], '😀')).toHaveProperty('files');
  });
});

const taken = { types: ['image/png', 'application/pdf'], maxBytes: 3_000, maxFiles: 2, hosts: ['*.example.com'] };

test.each<[string, Parameters<typeof filesProblem>[0], typeof taken | undefined, string | undefined]>([
  ['none', [], undefined, undefined],
  ['what it takes', [picture, pdf], taken, undefined],
  ['any host', [{ ...pdf, url: 'https://else.where/a' }], { ...taken, hosts: ['*'] }, undefined],
  ['this host', [pdf], { ...taken, hosts: ['files.example.com'] }, undefined],
  [
    'an agent that takes none',
    [picture],
    undefined,
    `agent 'a' takes no files and pictures: send text, or declare its 'files'`,
  ],
  ['too many', [picture, picture, picture], taken, `agent 'a' takes at most 2 files in one message`],
  [
    'another type',
    [{ ...picture, mediaType: 'image/svg+xml' }],
    taken,
    `agent 'a' takes no image/svg+xml, only image/png, application/pdf`,
  ],
  ['a large one', [ofBytes(3_003)], taken, `a file of 4 kB for agent 'a'; at most 3 kB`],
  ['a sum', [ofBytes(2_400), ofBytes(2_400)], taken, 'the files of one message have 5 kB; at most 4 kB'],
  [
    'another host',
    [{ ...pdf, url: 'https://example.com/a' }],
    taken,
    `agent 'a' takes no files from 'example.com': it takes those of *.example.com`,
  ],
  [
    'a host that ends alike',
    [{ ...pdf, url: 'https://evilexample.com/a' }],
    taken,
    `agent 'a' takes no files from 'evilexample.com': it takes those of *.example.com`,
  ],
  [
    'any address',
    [pdf],
    { ...taken, hosts: [] },
    `agent 'a' takes no files from 'files.example.com': send the file itself`,
  ],
])('an agent is given %s', (_what, files, takes, problem) => {
  expect(filesProblem(files, 'a', takes, 4_000)?.message).toBe(problem);
});

test('people see what was sent, and never its bytes', () => {
  expect(saidText({ content: 'Look', files: [{ ...ofBytes(33_999), filename: 'cat.png' }] })).toBe(
    'Look\n[1 picture (image/png, 34 kB, "cat.png")]',
  );
  expect(saidText({ content: ' ', files: [picture, pdf] })).toBe(
    '[2 files (image/png, 6 B; application/pdf, from files.example.com)]',
  );
  expect(saidText({ content: 'Only text' })).toBe('Only text');
  // A name cannot end its own quotation.
  expect(filesText([{ mediaType: 'image/png', filename: 'a"), 1 file (b' }])).toBe(
    String.raw`1 picture (image/png, "a\"), 1 file (b")`,
  );
  expect(withoutData(picture)).toEqual({ mediaType: 'image/png', url: 'data:image/png;base64,' });
  expect(withoutData(pdf)).toBe(pdf);
});

test.each([null, 7, {}, { mediaType: 3, url: {} }, { mediaType: '<b>', url: 'javascript:x', filename: 'x' }])(
  'anybody may have written %j',
  (value) => {
    expect(filesText([shownFile(value)])).toMatch(/^1 file \(unknown type/);
  },
);
