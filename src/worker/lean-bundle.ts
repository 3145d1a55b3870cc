import { createHash } from 'node:crypto';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BundleOptions } from '@temporalio/worker';

export type BundlerConfiguration = Parameters<NonNullable<BundleOptions['webpackConfigHook']>>[0];
type Compiler = Parameters<
  Extract<NonNullable<BundlerConfiguration['plugins']>[number], (...given: never) => unknown>
>[0];

/**
 * Makes the workflow bundle small, because every worker has it in memory. Removes all comments, indents, unused modules
 * and exports, and most of the source map. Names stay for the types of failures, and lines for stack traces. The same
 * sources give the same bytes in every folder.
 */
export function leanBundle(config: BundlerConfiguration): BundlerConfiguration {
  return {
    ...config,
    devtool: 'inline-nosources-cheap-module-source-map',
    output: { ...config.output, pathinfo: false, devtoolModuleFilenameTemplate: sourceName },
    optimization: { ...config.optimization, providedExports: true, sideEffects: true, usedExports: true },
    module: { ...config.module, rules: [...(config.module?.rules ?? []), ...withoutComments(config)] },
    plugins: [...(config.plugins ?? []), namedByPackage, withoutMarks],
  };
}

interface WebpackModule {
  identifier(): string;
  /** The path of its file. Null if it has none. */
  nameForCondition(): string | null;
}

const packageFolder = fileURLToPath(new URL('../../', import.meta.url)).replaceAll(sep, '/');

/** Returns a source file's name for stack traces: its path in its package; outside of packages, webpack's own. */
function sourceName(source: { absoluteResourcePath: string; resourcePath: string }): string {
  const path = source.absoluteResourcePath.replaceAll(sep, '/');
  const name = inPackage(path.replaceAll(packageFolder, 'countersign/'));
  return name === path ? source.resourcePath : name;
}

function inPackage(path: string): string {
  return path.replace(/^.*\/node_modules\//, '');
}

/** A webpack plugin that names a module by its path in its package, unless two copies of the package are installed. */
const namedByPackage = {
  apply({ hooks }: Compiler): void {
    hooks.thisCompilation.tap('countersign', ({ hooks: { beforeModuleIds }, chunkGraph }) => {
      beforeModuleIds.tap('countersign', (modules) => {
        // The identifier of a module without a file contains the path of the module that imports it.
        const pathOf = (module: WebpackModule): string =>
          (module.nameForCondition() ?? module.identifier()).replaceAll(sep, '/');
        for (const [name, [first, another]] of Map.groupBy(modules, (module) => inPackage(pathOf(module)))) {
          if (first !== undefined && another === undefined && name !== pathOf(first))
            chunkGraph.setModuleId(first, name);
        }
      });
    });
  },
};

/** A webpack plugin that removes indents and webpack's own comments, and names the file by a digest of what is left. */
const withoutMarks = {
  apply({ hooks, webpack: { Compilation, sources } }: Compiler): void {
    const name = 'countersign';
    const stage = Compilation.PROCESS_ASSETS_STAGE_OPTIMIZE_SIZE;
    hooks.thisCompilation.tap(name, (compilation) => {
      compilation.hooks.processAssets.tap({ name, stage }, (assets) => {
        for (const [file, source] of Object.entries(assets)) {
          const shorter = new sources.ReplaceSource(source);
          let start = 0;
          for (const module of source.source().toString().split(eachModule)) {
            const removable = hasLongTemplate(module) ? marks : marksAndIndents;
            for (const { 0: mark, index } of module.matchAll(removable)) {
              shorter.replace(start + index, start + index + mark.length - 1, '');
            }
            start += module.length;
          }
          compilation.updateAsset(file, shorter);
          // A digest replaces webpack's hash in the file name, which depends on absolute paths.
          const digest = createHash('sha256').update(shorter.source()).digest('hex').slice(0, 20);
          const renamed = file.replace(compilation.hash!, digest);
          if (renamed !== file) compilation.renameAsset(file, renamed);
        }
      });
    });
  },
};

const eachModule = /^(?=\/\*{3}\/ ")/m;
const marks = /^\/\* harmony (?:im|ex)port \*\/ *|(?<=\(\) => \()\/\* binding \*\/ /gm;
const marksAndIndents = new RegExp(`${marks.source}|^ +`, 'gm');
const literals = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\\n]|\\.)*`/g;

/** True if a template literal may have several lines: what looks like their indents is part of the text. */
function hasLongTemplate(module: string): boolean {
  return module.replaceAll(literals, '').includes('`') || module.includes('\\\n');
}

/** Returns a last webpack rule, which removes comments by swc, the compiler of Temporal's bundler for TypeScript. */
function withoutComments(config: BundlerConfiguration): object[] {
  const uses = (config.module?.rules ?? []).map((rule) => (typeof rule === 'object' && rule ? rule.use : undefined));
  const swc = uses.find(
    (use): use is { loader: string } =>
      typeof use === 'object' && 'loader' in use && /[\\/]swc-loader[\\/]/.test(use.loader ?? ''),
  );
  if (swc === undefined) return [];
  const options = {
    // Swc then keeps a CommonJS module as it is, and adds no strict mode to it.
    isModule: 'unknown',
    sourceMaps: true,
    jsc: { target: 'esnext', parser: { syntax: 'ecmascript' }, minify: { format: { comments: false } } },
  };
  return [{ test: /\.[jt]s$/, enforce: 'post', use: { loader: swc.loader, options } }];
}
