/** Finds, by their types, the options that the exported functions, classes and methods take. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { API, SignatureKind, SymbolFlags, TypeFlags } from 'typescript/unstable/sync';
import type { Checker, Symbol as TypeSymbol, Type } from 'typescript/unstable/sync';
import { entries } from '../../tools/api/declarations.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** An object that a function takes, or one within it. */
export interface OptionType {
  /** The function, its parameter and the way to the object, such as `createWorker(options).routes`. */
  place: string;
  /** The way: names of members; `*` is each member of a record, or element of a list. */
  path: string[];
  /** The function and its parameter. */
  parameter: string;
  type: string;
  members: string[];
}

/** Says of an object of a type at a place, and of the methods of what a function `NAME()` returns, that it is no options. */
export type IsLeftOut = (type: string, place: string) => boolean;

export function optionTypes(isLeftOut: IsLeftOut): OptionType[] {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-options-'));
  const api = new API({ cwd: root });
  try {
    const config = join(folder, 'tsconfig.json');
    const files = Object.values(entries).map((name) => join(root, `${name}.ts`));
    const compilerOptions = { typeRoots: [join(root, 'node_modules/@types')] };
    writeFileSync(
      config,
      JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include: [], files }),
    );
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config)!;
    const finder = new Finder(project.checker, isLeftOut);
    for (const file of files) {
      const module = project.checker.getSymbolAtLocation(project.program.getSourceFile(file)!)!;
      for (const each of project.checker.getExportsOfModule(module)) finder.look(each);
    }
    return [...finder.found.values()];
  } finally {
    api.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

class Finder {
  readonly found = new Map<string, OptionType>();
  readonly #checker: Checker;
  readonly #isLeftOut: IsLeftOut;
  /** Types whose methods were looked at. */
  readonly #followed = new Set<number>();

  constructor(checker: Checker, isLeftOut: IsLeftOut) {
    this.#checker = checker;
    this.#isLeftOut = isLeftOut;
  }

  look(exported: TypeSymbol): void {
    const isAlias = (exported.flags & SymbolFlags.Alias) !== 0;
    const symbol = isAlias ? this.#checker.getAliasedSymbol(exported) : exported;
    if ((symbol.flags & SymbolFlags.Value) === 0) return;
    this.#lookAt(exported.name, this.#checker.getTypeOfSymbol(symbol)!);
  }

  #lookAt(name: string, type: Type): void {
    for (const kind of [SignatureKind.Call, SignatureKind.Construct]) {
      for (const signature of this.#checker.getSignaturesOfType(type, kind)) {
        for (const parameter of signature.getParameters()) {
          const given = this.#checker.getTypeOfSymbol(parameter)!;
          this.#take(`${name}(${parameter.name.replace(/^__\d+$/, 'options')})`, [], given, []);
        }
        this.#follow(name, this.#checker.getReturnTypeOfSignature(signature)!);
      }
    }
  }

  /** Looks at the methods of what a function returns. */
  #follow(name: string, returned: Type): void {
    if (returned.isUnionType() || returned.isIntersectionType()) {
      for (const each of returned.getTypes()) this.#follow(name, each);
      return;
    }
    if (returned.getSymbol()?.name === 'Promise' && returned.isTypeReference()) {
      for (const each of this.#checker.getTypeArguments(returned)) this.#follow(name, each);
      return;
    }
    if (!isOurs(returned.getSymbol()) || this.#followed.has(returned.id)) return;
    this.#followed.add(returned.id);
    if (this.#isLeftOut(this.#nameOf(returned), `${name}()`)) return;
    for (const member of this.#checker.getPropertiesOfType(returned)) {
      if (!isOurs(member)) continue;
      const type = this.#checker.getTypeOfSymbol(member)!;
      const parts = type.isIntersectionType() ? type.getTypes() : [type];
      for (const part of parts) {
        this.#lookAt(`${name}().${member.name}`, part);
        if (parts.length > 1) this.#follow(`${name}().${member.name}`, part);
      }
    }
  }

  /** Keeps the objects that a value of this type is or holds. */
  #take(parameter: string, path: string[], type: Type, within: readonly number[]): void {
    if (within.includes(type.id)) return;
    const inner = [...within, type.id];
    if (type.isUnionType()) {
      for (const each of type.getTypes()) this.#take(parameter, path, each, inner);
      return;
    }
    const checker = this.#checker;
    const isObject = type.isIntersectionType() || (type.flags & TypeFlags.Object) !== 0;
    const place = [parameter, ...path].join('.');
    if (!isObject || this.#isLeftOut(this.#nameOf(type), place)) return;
    if (checker.isArrayLikeType(type)) {
      if (!type.isTypeReference()) return;
      for (const each of checker.getTypeArguments(type)) this.#take(parameter, [...path, '*'], each, inner);
      return;
    }
    const symbol = type.getSymbol();
    const isNamed = symbol !== undefined && symbol.name !== '__type';
    if (isNamed && (!isOurs(symbol) || (symbol.flags & SymbolFlags.Class) !== 0)) return;
    if (checker.getSignaturesOfType(type, SignatureKind.Call).length > 0) return;
    const members = checker.getPropertiesOfType(type);
    for (const { valueType } of checker.getIndexInfosOfType(type))
      this.#take(parameter, [...path, '*'], valueType, inner);
    if (members.length === 0) return;
    const names = members.map(({ name }) => name);
    const known = this.found.get(place);
    const all = [...new Set([...(known?.members ?? []), ...names])];
    this.found.set(place, { place, path, parameter, type: this.#nameOf(type), members: all });
    for (const member of members) {
      if (isOurs(member)) this.#take(parameter, [...path, member.name], checker.getTypeOfSymbol(member)!, inner);
    }
  }

  #nameOf(type: Type): string {
    return this.#checker.typeToString(type).replace(/^Readonly<(.*)>$/, '$1');
  }
}

/** True for what is declared in this repository. */
function isOurs(symbol: TypeSymbol | undefined): boolean {
  return (
    symbol?.declarations.some(({ path }) => !path.includes('/node_modules/') && !path.startsWith('bundled:')) === true
  );
}
