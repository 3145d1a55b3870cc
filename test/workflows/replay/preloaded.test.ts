import { readFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';
import { beforeAll, describe, expect, test } from 'vitest';
import { testBundle } from '../../support/world.ts';
import { parseSync } from '@swc/core';

/**
 * All modules are shared by the runs of a worker (B5). They keep no state of any run and use none of its randomness.
 */

/** Allowed shared state, each with the reason why no run can observe it. */
const allowedState: Record<string, string[]> = {
  // Set and restored within one synchronous evaluation; the environment and its compiled conditions are constant.
  'src/core/match/condition.ts': ['budget: let', 'paid: let', 'sums: let', 'environment: let'],
  // Its keys are the directories of one run's policies, which are replaced and never changed: what is kept follows from them.
  'src/core/people/revoked.ts': ['read: WeakMap', 'read: is written to'],
  'src/core/people/directory.ts': [
    'indexes: WeakMap',
    'aliased: WeakMap',
    'spelling: WeakMap',
    'indexes: is written to',
    'aliased: is written to',
    'spelling: is written to',
  ],
  // Its keys are objects of one run; no other run asks for their sizes.
  'src/core/ledger/hidden-arguments.ts': ['measured: WeakMap', 'measured: is written to'],
};

let bundled: string[];
let preloaded: string[];
/** Those, and the entry, which runs as the bundle is loaded. */
let loaded: string[];
let keptRandom: unknown;
let tablesOfRe2: unknown;
beforeAll(async () => {
  const code = readFileSync(testBundle(), 'utf8');
  bundled = [...code.matchAll(/^\/\*\*\*\/ "([^"]+)"/gm)].map(([, path]) => path!);
  const cache: Record<string, unknown> = {};
  const context = createContext({ __webpack_module_cache__: cache, TextEncoder, TextDecoder });
  const run = (script: string): unknown => runInContext(script, context);
  run(code);
  const before = new Set(Object.keys(cache));
  // As the sandbox is before any run.
  run(`Math.random = () => { throw new Error('no chance here'); }; var random = Math.random;`);
  run('__TEMPORAL__.preloadModules()');
  keptRandom = run('Math.random === random');
  loaded = Object.keys(cache);
  preloaded = loaded.filter((path) => !before.has(path));
  const ofTables = preloaded.find((path) => path === '@bufbuild/re2/dist/esm/UnicodeTables.js')!;
  tablesOfRe2 = (cache[ofTables] as { exports: { UnicodeTables: object } }).exports.UnicodeTables;
});

test('everything is loaded once for all runs; each run loads only the list of workflows itself', () => {
  const ours = bundled.filter((path) => path.startsWith('./src/'));
  expect(ours.length).toBeGreaterThan(80);
  // If a module is missing: import it in src/workflows/preloaded.ts.
  expect(ours.filter((path) => !loaded.includes(path))).toEqual(['./src/workflows/index.ts']);
});

test('the parts of the workflow SDK that we preload keep no state either', () => {
  const ofSdk = preloaded.filter((path) => path.startsWith('@temporalio/'));
  expect(ofSdk).toContain('@temporalio/workflow/lib/index.js');
  // `var` marks what the compiler adds: imports and helpers.
  const written = (path: string): string[] =>
    stateOf(`./node_modules/${path}`).filter((each) => !each.endsWith(': var'));
  for (const path of ofSdk) expect([path, written(path)]).toEqual([path, []]);
});

test("loading leaves a run's randomness unused and restores it", () => {
  expect(keptRandom).toBe(true);
});

test('the tables of RE2 are frozen: the SDK would read each of them, which takes longer than all else', () => {
  expect(Object.isFrozen(tablesOfRe2)).toBe(true);
});

test('no shared module can keep state', () => {
  const ours = preloaded.filter((path) => path.startsWith('./src/'));
  const found = ours.flatMap((path) => {
    const state = stateOf(path);
    return state.length === 0 ? [] : [[path.slice(2), state] as const];
  });
  expect(Object.fromEntries(found)).toEqual(allowedState);
});

const stateOf = (path: string): string[] =>
  moduleState(readFileSync(new URL(`../../../${path.slice(2)}`, import.meta.url), 'utf8'));

describe('what counts as state', () => {
  test.each<[string, string[]]>([
    ['const table = new Map([[1, 2]]); export const at = (key: number) => table.get(key);', []],
    ['const table = new Map(); for (const key of [1]) table.set(key, 1);', []],
    ['let last = 0;', ['last: let']],
    ['let { a, b: [c] } = {};', ['a: let', 'c: let']],
    ['const { a } = {}; export const put = () => { a.b = 1; };', ['a: is written to']],
    ['const { a } = {}; export const put = () => { const c = {}; c[a].b = 1; };', []],
    ['const seen = new Set(); export function see(what: string) { seen.add(what); }', ['seen: is written to']],
    [
      'const counts: { all: number } = { all: 0 }; export const count = () => { counts.all++; };',
      ['counts: is written to'],
    ],
    ['export const all = []; export const put = (one: string) => { all[0] = one; };', ['all: is written to']],
    ['const last = {}; class A { keep(it: object) { Object.assign(last, it); } }', ['last: is written to']],
    ['const last = { a: 1 }; export const f = () => { delete last.a; };', ['last: is written to']],
    ['const words = /a/g;', ['words: a pattern with /g']],
    ['const sizes = new WeakMap();', ['sizes: WeakMap']],
  ])('%s', (source, state) => expect(moduleState(source)).toEqual(state));
});

interface Node {
  type: string;
  [key: string]: unknown;
}

const mutators = new Set(
  'set add delete clear push pop shift unshift splice sort reverse fill copyWithin assign defineProperty'.split(' '),
);

/**
 * Top-level declarations that can change after the module is loaded, one per line: a variable that is reassigned, a
 * list, map, set or object that a function writes to, a regular expression with a position (`g` or `y`), a WeakMap.
 */
function moduleState(source: string): string[] {
  const { body } = parseSync(source, { syntax: 'typescript', target: 'es2024' }) as unknown as { body: Node[] };
  const top = body.map((item) => (item.type === 'ExportDeclaration' ? (item['declaration'] as Node) : item));
  const declared = top.filter(({ type }) => type === 'VariableDeclaration');
  const names = new Set(declared.flatMap((each) => declarators(each).map(([name]) => name)));
  const found: string[] = [];
  for (const declaration of declared) {
    for (const [name, init] of declarators(declaration)) {
      if (declaration['kind'] !== 'const') found.push(`${name}: ${String(declaration['kind'])}`);
      if (init?.type === 'RegExpLiteral' && /[gy]/.test(String(init['flags'])))
        found.push(`${name}: a pattern with /g`);
      if (init?.type === 'NewExpression' && nameOf(init['callee'] as Node) === 'WeakMap')
        found.push(`${name}: WeakMap`);
    }
  }
  for (const item of top) {
    // A table that the module fills while loading is complete before the first run starts.
    if (item.type === 'FunctionDeclaration' || item.type === 'ClassDeclaration') walk(item, names, found);
    else eachFunction(item, (inner) => walk(inner, names, found));
  }
  return [...new Set(found)];
}

function declarators(declaration: Node): [name: string, init: Node | null][] {
  return (declaration['declarations'] as Node[]).flatMap(({ id, init }) =>
    namesIn(id as Node).map((name): [string, Node | null] => [name, init as Node | null]),
  );
}

/** The names that `name`, `{ a, b: c }` and `[a, b]` declare. */
function namesIn(pattern: Node): string[] {
  if (pattern.type === 'Identifier') return [String(pattern['value'])];
  if (pattern.type === 'KeyValuePatternProperty') return namesIn(pattern['value'] as Node);
  if (pattern.type === 'AssignmentPatternProperty') return namesIn(pattern['key'] as Node);
  return childrenOf(pattern).flatMap(namesIn);
}

function nameOf(node: Node | undefined): string {
  return node?.type === 'Identifier' ? String(node['value']) : '';
}

/** The name at the left end of `a.b[c].d`. */
function rootOf(node: Node | undefined): string {
  return node?.type === 'MemberExpression' ? rootOf(node['object'] as Node) : nameOf(node);
}

function walk(node: Node, names: ReadonlySet<string>, found: string[]): void {
  const written = (target: Node | undefined): void => {
    if (target?.type === 'MemberExpression' && names.has(rootOf(target)))
      found.push(`${rootOf(target)}: is written to`);
  };
  if (node.type === 'AssignmentExpression') written(node['left'] as Node);
  if (node.type === 'UpdateExpression') written(node['argument'] as Node);
  if (node.type === 'UnaryExpression' && node['operator'] === 'delete') written(node['argument'] as Node);
  if (node.type === 'CallExpression') {
    const callee = node['callee'] as Node;
    const property = callee.type === 'MemberExpression' ? nameOf(callee['property'] as Node) : '';
    if (mutators.has(property)) {
      written(callee);
      const [first] = node['arguments'] as { expression: Node }[];
      if (nameOf(callee['object'] as Node) === 'Object' && names.has(rootOf(first?.expression))) {
        found.push(`${rootOf(first?.expression)}: is written to`);
      }
    }
  }
  for (const child of childrenOf(node)) walk(child, names, found);
}

function eachFunction(node: Node, act: (node: Node) => void): void {
  if (node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression' || node.type === 'MethodProperty') {
    act(node);
  } else for (const child of childrenOf(node)) eachFunction(child, act);
}

function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .flatMap((child) => (typeof child === 'object' && child !== null ? [child as Node] : []));
}
