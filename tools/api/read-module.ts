import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Declaration, type ExportSpecifier, type ImportDeclaration, type Span, parseSync } from '@swc/core';

/** The exports of a file of declarations. */
export interface DeclarationModule {
  /** The docstring at the head of the file; empty if there is none. */
  head: string;
  /** The exports that it declares itself, by name. */
  declared: Map<string, Declared>;
  /** The exports that it takes from other files, in order. */
  reexported: Reexported[];
  /** The imports from other files of the package, by their names here. */
  imported: Map<string, { file: string; name: string }>;
}

export interface Declared {
  kind: 'function' | 'class' | 'const' | 'type';
  /** Without `export`, `declare` and private members. The name is `{{name}}`. Overloads follow one another. */
  code: string;
  /** The docstring, from its opening to its end; empty if there is none. */
  comment: string;
}

export interface Reexported {
  /** Undefined: everything that `file` exports. */
  name?: { local: string; exported: string };
  file: string;
  typeOnly: boolean;
  /** The docstring of the export statement, if it exports one name; empty if there is none. */
  comment: string;
}

const modules = new Map<string, DeclarationModule>();

/** Reads a `.d.ts` file, once. Throws for an export of a kind that no declaration has so far. */
export function readModule(file: string): DeclarationModule {
  const known = modules.get(file);
  if (known !== undefined) return known;
  const bytes = readFileSync(file);
  const { body } = parseSync(bytes.toString('utf8'), { syntax: 'typescript', target: 'es2023' });
  const module: DeclarationModule = { head: '', declared: new Map(), reexported: [], imported: new Map() };
  modules.set(file, module);
  // Spans count bytes, from 1.
  const text = ({ start, end }: Pick<Span, 'start' | 'end'>): string =>
    bytes.subarray(start - 1, end - 1).toString('utf8');
  let end = 1;
  for (const [index, item] of body.entries()) {
    const comments = text({ start: end, end: item.span.start }).match(/\/\*\*[\s\S]*?\*\//g) ?? [];
    const comment = comments.at(-1) ?? '';
    end = item.span.end;
    if (index === 0) module.head = comments[0] ?? '';
    if (item.type === 'ImportDeclaration') {
      readImport(module, item, file);
    } else if (item.type === 'ExportDeclaration') {
      declare(module, item.declaration, comment, text);
    } else if (item.type === 'ExportNamedDeclaration') {
      // The comment at the head of a file is about the file.
      const own = item.specifiers.length === 1 && (index > 0 || comments.length > 1) ? comment : '';
      for (const each of item.specifiers) {
        const from = sourceOf(file, item.source!.value)!;
        module.reexported.push({ ...specifierOf(each, isTypeOnly(item), file), file: from, comment: own });
      }
    } else if (item.type === 'ExportAllDeclaration') {
      const from = sourceOf(file, item.source.value)!;
      module.reexported.push({ file: from, typeOnly: isTypeOnly(item), comment: '' });
    } else if (item.type.startsWith('Export')) {
      throw new Error(`${file}: ${item.type} is not supported`);
    }
  }
  for (const each of module.declared.values()) each.code = withMembers(each.code, module.declared);
  return module;
}

/** The published types of the parser leave this property out. */
function isTypeOnly(item: object): boolean {
  return 'typeOnly' in item && item.typeOnly === true;
}

function specifierOf(each: ExportSpecifier, typeOnly: boolean, file: string): Pick<Reexported, 'name' | 'typeOnly'> {
  if (each.type !== 'ExportSpecifier') throw new Error(`${file}: ${each.type} is not supported`);
  const local = each.orig.value;
  return { name: { local, exported: each.exported?.value ?? local }, typeOnly: typeOnly || each.isTypeOnly };
}

function readImport({ imported }: DeclarationModule, { source, specifiers }: ImportDeclaration, file: string): void {
  const from = sourceOf(file, source.value);
  if (from === undefined) return;
  for (const each of specifiers) {
    if (each.type !== 'ImportSpecifier') throw new Error(`${file}: ${each.type} is not supported`);
    imported.set(each.local.value, { file: from, name: each.imported?.value ?? each.local.value });
  }
}

function declare(module: DeclarationModule, item: Declaration, comment: string, text: (span: Span) => string): void {
  const { kind, name } = identify(item);
  const code = `${text({ ...item.span, end: name.span.start })}{{name}}${text({
    ...item.span,
    start: name.span.start + Buffer.byteLength(name.value),
  })}`
    .replace(/^declare /, '')
    .replaceAll(/^ *(?:#private|private .*);\n/gm, '');
  const earlier = module.declared.get(name.value);
  module.declared.set(
    name.value,
    earlier === undefined ? { kind, code, comment } : { ...earlier, code: `${earlier.code}\n${code}` },
  );
}

function identify(item: Declaration): { kind: Declared['kind']; name: { value: string; span: Span } } {
  switch (item.type) {
    case 'FunctionDeclaration':
      return { kind: 'function', name: item.identifier };
    case 'ClassDeclaration':
      return { kind: 'class', name: item.identifier };
    case 'TsInterfaceDeclaration':
    case 'TsTypeAliasDeclaration':
      return { kind: 'type', name: item.id };
    case 'VariableDeclaration': {
      const id = item.declarations[0]?.id;
      if (id?.type !== 'Identifier') throw new Error('a constant without a name is not supported');
      return { kind: 'const', name: id };
    }
    case 'TsEnumDeclaration':
    case 'TsModuleDeclaration':
      throw new Error(`${item.type} is not supported`);
  }
}

/** Writes `(typeof names)[number]` as the members of that list: readers want to see them. */
function withMembers(code: string, declared: DeclarationModule['declared']): string {
  return code.replaceAll(/\(typeof (\w+)\)\[number\]/g, (written, name: string) => {
    const list = declared.get(name)?.code.replaceAll(/\/\*\*[\s\S]*?\*\//g, '');
    const members = list?.match(/'[^']+'/g);
    return members === null || members === undefined ? written : members.join(' | ');
  });
}

/** The file of a specifier; undefined for a package of others. Declarations of another package of ours name its entries. */
function sourceOf(file: string, source: string): string | undefined {
  if (source.startsWith('.')) return join(dirname(file), source.replace(/\.ts$/, '.d.ts'));
  const [, entry] = /^countersign\/([\w-]+)$/.exec(source) ?? [];
  return entry === undefined ? undefined : join(file.slice(0, file.lastIndexOf('/packages/')), 'src', `${entry}.d.ts`);
}
