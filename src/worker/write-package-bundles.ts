/** Bundles the workflows for the package. `npm run build` runs the compiled module. */
import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DefaultLogger, bundleWorkflowCode } from '@temporalio/worker';
import workflowPackage from '@temporalio/workflow/package.json' with { type: 'json' };
import { modulePath } from '../connection/module-path.ts';
import { modulesDigest, originComment, packageBundles } from './package-bundle.ts';
import { CountersignPlugin } from './plugin.ts';

const packageFolder = fileURLToPath(new URL('../../', import.meta.url));

for (const { path, failureConverterPath } of Object.values(packageBundles)) {
  const { code } = await bundleWorkflowCode({
    workflowsPath: modulePath('workflows/index'),
    failureConverterPath,
    plugins: [new CountersignPlugin({ leanBundle: true, largePayloads: false })],
    logger: new DefaultLogger('ERROR'),
    // The names of modules begin at the package, so that every folder in which it is built gives the same bytes.
    webpackConfigHook: (config) => ({
      ...config,
      context: packageFolder,
      output: { ...config.output, filename: basename(path) },
    }),
  });
  // The comment adds no line, so that the lines of the source map still fit.
  writeFileSync(path, originComment({ sdk: workflowPackage.version, modules: modulesDigest() }) + code);
}
