import { join, relative } from 'node:path';
import { entries, type Entry } from './declarations.ts';
import { type Docstring, parseDocstring } from './docstring.ts';
import { type Declared, readModule } from './read-module.ts';

/** The exports of one entry of the package. */
export interface ApiEntry {
  entry: Entry;
  doc: Docstring;
  /** In the order of the entry. */
  values: ApiExport[];
  /** By name. */
  types: ApiExport[];
}

export interface ApiExport {
  name: string;
  kind: Declared['kind'];
  /** The declaration, under the name of the export. */
  code: string;
  doc: Docstring;
  /** `FILE#NAME` of its declaration: the same for an export of several entries. */
  id: string;
  /** The declarations of the package that this one names, by their ids. Not those in comments. */
  names: string[];
}

/** Reads what the entries export, from a folder with the declarations of the package. */
export function readApi(folder: string): ApiEntry[] {
  return Object.entries(entries).map(([entry, name]) => {
    const file = join(folder, `${name}.d.ts`);
    const exported = [...exportsOf(file, folder).values()];
    return {
      entry: entry as Entry,
      doc: parseDocstring(readModule(file).head),
      values: exported.filter(({ kind }) => kind !== 'type'),
      types: exported.filter(({ kind }) => kind === 'type').toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    };
  });
}

/** The exports of a file of declarations, by name. A named export goes before one of `export *`, as in TypeScript. */
function exportsOf(file: string, folder: string): Map<string, ApiExport> {
  const found = new Map<string, ApiExport>();
  const add = (each: ApiExport): void => void (found.has(each.name) || found.set(each.name, each));
  const { declared, reexported } = readModule(file);
  for (const name of declared.keys()) add(exportOf({ file, name }, name, '', folder));
  for (const { name, file: from, typeOnly, comment } of reexported) {
    if (name === undefined) continue;
    const each = exportOf({ file: from, name: name.local }, name.exported, comment, folder);
    // A class that is exported as a type is no value.
    add(typeOnly ? { ...each, kind: 'type' } : each);
  }
  for (const { name, file: from, typeOnly } of reexported) {
    if (name !== undefined) continue;
    for (const each of exportsOf(from, folder).values()) if (!typeOnly || each.kind === 'type') add(each);
  }
  return found;
}

interface Place {
  file: string;
  name: string;
}

function exportOf(from: Place, name: string, comment: string, folder: string): ApiExport {
  const place = placeOf(from);
  if (place === undefined) throw new Error(`${from.file} does not declare '${from.name}'`);
  const declared = readModule(place.file).declared.get(place.name)!;
  const idOf = (each: Place): string => `${relative(folder, each.file)}#${each.name}`;
  return {
    name,
    kind: declared.kind,
    code: declared.code.replaceAll('{{name}}', name),
    doc: parseDocstring(comment === '' ? declared.comment : comment),
    id: idOf(place),
    names: placesIn(declared.code, place.file).map(idOf),
  };
}

/** Returns the place that declares a name that a file exports; undefined if no file of the package does. */
function placeOf({ file, name }: Place): Place | undefined {
  const { declared, reexported } = readModule(file);
  if (declared.has(name)) return { file, name };
  const next = reexported.find((each) => each.name?.exported === name);
  if (next !== undefined) return placeOf({ file: next.file, name: next.name!.local });
  const all = reexported.filter((each) => each.name === undefined);
  return all.map((each) => placeOf({ file: each.file, name })).find((place) => place !== undefined);
}

/** The declarations of the package that some code in a file names. */
function placesIn(code: string, file: string): Place[] {
  const { declared, imported } = readModule(file);
  const words = new Set(code.replaceAll(/\/\*\*[\s\S]*?\*\/|'[^']*'/g, '').match(/\b[A-Z]\w+/g));
  return [...words].toSorted().flatMap((name) => {
    const place = declared.has(name) ? { file, name } : imported.get(name);
    return (place && placeOf(place)) ?? [];
  });
}
