import type { BundleOptions } from '@temporalio/worker';

type Configuration = Parameters<NonNullable<BundleOptions['webpackConfigHook']>>[0];

/** Makes one file: the sandbox cannot load a second one, which webpack makes of what a library imports dynamically. */
export function singleFile(config: Configuration): Configuration {
  return { ...config, output: { ...config.output, asyncChunks: false } };
}

/**
 * Keeps the workflow bundle small, because every worker holds it in memory. Removes comments, also those of libraries,
 * the notes of webpack, and from the source map its columns and the text of the sources. Names and lines stay: failures
 * keep their types, and stack traces their lines.
 */
export function leanBundle(config: Configuration): Configuration {
  return {
    ...config,
    devtool: 'inline-nosources-cheap-module-source-map',
    output: { ...config.output, pathinfo: false },
    module: { ...config.module, rules: [...(config.module?.rules ?? []), ...withoutComments(config)] },
  };
}

/** Runs after all other rules, with the compiler that Temporal's bundler uses for TypeScript. Without it comments stay. */
function withoutComments(config: Configuration): object[] {
  const uses = (config.module?.rules ?? []).map((rule) => (typeof rule === 'object' && rule ? rule.use : undefined));
  const swc = uses.find(
    (use): use is { loader: string } =>
      typeof use === 'object' && 'loader' in use && /[\\/]swc-loader[\\/]/.test(use.loader ?? ''),
  );
  if (swc === undefined) return [];
  const options = {
    // CommonJS stays CommonJS, and sloppy mode stays sloppy.
    isModule: 'unknown',
    sourceMaps: true,
    jsc: { target: 'esnext', parser: { syntax: 'ecmascript' }, minify: { format: { comments: false } } },
  };
  return [{ test: /\.[jt]s$/, enforce: 'post', use: { loader: swc.loader, options } }];
}
