/** Finds module state that persists between uses, which all runs of a worker would share. */
import { parseSync } from '@swc/core';

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
export function moduleState(source: string): string[] {
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
