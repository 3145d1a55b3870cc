import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload, stripTypeScriptTypes } from 'node:module';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, vi, test } from 'vitest';
import { bundleWorkflows } from '../../../src/worker.ts';
import { testBundle } from '../../support/world.ts';

/**
 * The bundle that every worker loads for every run has only modules that may be replayed. How large it is in the package
 * (B5) is measured where the package is (`test/e2e/examples/outside-project.test.ts`).
 */

const sourceMapComment = /^\/\/# sourceMappingURL=.*base64,(.*)$/m;
/**
 * Temporal's own packages, and those that rules and digests need. Add a package deliberately: every run pays for it.
 */
const allowedPackages = [
  '@bufbuild/cel',
  '@bufbuild/cel-spec',
  '@bufbuild/protobuf',
  '@bufbuild/re2',
  '@isaacs/nonrecursive-glob-match',
  '@noble/ed25519',
  '@noble/hashes',
  '@temporalio/common',
  '@temporalio/workflow',
  'balanced-match',
  'brace-expansion',
  'canonicalize',
  'long',
  'minimatch',
  'ms',
  'nexus-rpc',
];

const code = readFileSync(testBundle(), 'utf8');

test('the bundle holds the workflow, the interceptors and the payload converter', () => {
  for (const text of ['agentRun', 'countersign.reserved', 'countersign.undecodable']) expect(code).toContain(text);
});

test('comments are removed, ours and those of libraries', () => {
  for (const words of ['A plain error in workflow code', '@internal', '@param']) expect(code).not.toContain(words);
});

const root = fileURLToPath(new URL('../../../', import.meta.url));
const [sourceMapLine, sourceMapText] = sourceMapComment.exec(code)!;
const sourceMap = JSON.parse(Buffer.from(sourceMapText!, 'base64').toString()) as SourceMapPayload;

test.each([
  ['countersign/src/workflows/sandbox/payload-converter.ts', 'Cannot write a payload: '],
  ['countersign/src/core/policy/ruling.ts', 'function readyCall('],
  ['canonicalize/lib/canonicalize.js', 'Lone surrogate is not allowed'],
])('a stack trace through %s names its line', (source, words) => {
  const lines = code.split('\n');
  const at = lines.findIndex((line) => line.includes(words));
  const found = new SourceMap(sourceMap).findEntry(at, lines[at]!.indexOf(words));
  if (!('originalSource' in found)) throw new Error(`nothing is known of line ${at}`);
  const path = source.startsWith('countersign/') ? source.replace('countersign/', '') : `node_modules/${source}`;
  const written = readFileSync(join(root, path), 'utf8').split('\n');
  expect([found.originalSource, written[found.originalLine]]).toEqual([source, expect.stringContaining(words)]);
});

test('it does not depend on the folder in which it is made: no path of it, and a name after the code', () => {
  const text = code.slice(0, code.indexOf(`\n${sourceMapLine}`));
  for (const held of [text, ...sourceMap.sources]) expect(held).not.toContain(root.slice(0, -1));
  expect(sourceMap.sources.filter((source) => isAbsolute(source))).toEqual([]);
  expect(sourceMap.sources.length).toBeGreaterThan(300);
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 20);
  expect(sourceMap.file).toBe(`workflow-bundle-${digest}.js`);
});

/** Every module in the bundle: ours by its path from the root, those of other packages by their path in the package. */
const modules = (): string[] => [...code.matchAll(/^\/\*\*\*\/ "([^"]+)"/gm)].map(([, path]) => path!);

describe('contents of the bundle', () => {
  test('modules are found', () => {
    expect(modules()).toContain('./src/workflows/agent/agent-run.ts');
  });

  test.each(['zod', 'yaml', 'commander', 'lossless-json', '@ai-sdk', '@temporalio/worker', '@temporalio/client'])(
    '%s is not included',
    (name) => expect(modules().filter((path) => path.startsWith(`${name}/`))).toEqual([]),
  );

  test('of our code, only core, the contract, the reader of JSON payloads and the workflows', () => {
    const ours = modules().filter((path) => path.startsWith('./src/') && !path.includes('sync recursive'));
    const allowed = /^\.\/src\/(?:(?:core|workflows)\/|contract\.ts$|codec\/plain-payload-converter\.ts$)/;
    expect(ours.filter((path) => !allowed.test(path))).toEqual([]);
    expect(ours.length).toBeGreaterThan(20);
  });

  test('all of the core: what no replay runs has rooms beside it', () => {
    const core = fileURLToPath(new URL('../../../src/core/', import.meta.url));
    const files = globSync('*/*.ts', { cwd: core });
    const bundled = new Set(modules());
    const others = files.filter((file) => !bundled.has(`./src/core/${file}`));
    // What has only types leaves nothing behind when it is compiled.
    const withCode = others.filter((file) => {
      const compiled = stripTypeScriptTypes(readFileSync(join(core, file), 'utf8'));
      return compiled.replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, '').replaceAll(/[\s;]/g, '') !== '';
    });
    expect(files.length).toBeGreaterThan(100);
    expect(withCode).toEqual([]);
  });

  test('of other packages, only the workflow SDK and a few pure libraries', () => {
    const packages = modules().flatMap((path) => /^((?:@[^/]+\/)?[^./][^/]*)\//.exec(path)?.slice(1) ?? []);
    expect([...new Set(packages)].toSorted()).toEqual(allowedPackages);
  });
});

test('a workflow that imports a Node built-in does not bundle, and the error gives the reason', async () => {
  const told: string[] = [];
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => told.push(String(text)) > 0);
  try {
    const workflowsPath = fileURLToPath(new URL('../bundles/node-builtin-workflow.ts', import.meta.url));
    await expect(bundleWorkflows(workflowsPath)).rejects.toThrow(/Webpack finished with errors/);
  } finally {
    write.mockRestore();
  }
  expect(told.join('')).toContain('node:fs');
});
