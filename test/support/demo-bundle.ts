/**
 * Preloaded into a demo: it takes the workflow code of the tests in the place of bundling it, which takes longer than all
 * else that it does.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

export async function bundleWorkflows(): Promise<{ code: string }> {
  return { code: readFileSync(process.env.COUNTERSIGN_TEST_BUNDLE!, 'utf8') };
}

registerHooks({
  resolve: (specifier, context, resolve) => {
    const isAsked =
      specifier === 'countersign/worker' && context.parentURL?.endsWith('/src/demo/start-stage.ts') === true;
    return resolve(isAsked ? import.meta.url : specifier, context);
  },
});
