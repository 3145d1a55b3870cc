import type { BundleOptions } from '@temporalio/worker';

type Configuration = Parameters<NonNullable<BundleOptions['webpackConfigHook']>>[0];

/**
 * Keeps the workflow bundle small, for every worker holds it in memory (B5), and leaves names and lines as they are:
 * failures keep their types, stack traces their lines. Out go comments, from libraries too, webpack's notes, and from
 * the source map its columns and the text of every source once more.
 */
export function leanBundle(config: Configuration): Configuration {
  return {
    ...config,
    devtool: 'inline-nosources-cheap-module-source-map',
    // One file: the sandbox cannot load a second one, which webpack makes of what a library imports dynamically.
    output: { ...config.output, pathinfo: false, asyncChunks: false },
    module: { ...config.module, rules: [...(config.module?.rules ?? []), ...withoutComments(config)] },
  };
}

/** After all other rules, by the compiler that Temporal's bundler uses for TypeScript; without it, comments stay. */
function withoutComments(config: Configuration): object[] {
  const uses = (config.module?.rules ?? []).map((rule) => (typeof rule === 'object' && rule ? rule.use : undefined));
  const swc = uses.find(
    (use): use is { loader: string } =>
      typeof use === 'object' && 'loader' in use && /[\\/]swc-loader[\\/]/.test(use.loader ?? ''),
  );
  if (swc === undefined) return [];
  const options = {
    // CommonJS stays what it is, not strict where it does not say so.
    isModule: 'unknown',
    sourceMaps: true,
    jsc: { target: 'esnext', parser: { syntax: 'ecmascript' }, minify: { format: { comments: false } } },
  };
  return [{ test: /\.[jt]s$/, enforce: 'post', use: { loader: swc.loader, options } }];
}
