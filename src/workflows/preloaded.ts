// oxlint-disable no-underscore-dangle -- webpack gives its table of modules such names
/**
 * The modules that all runs of a worker share. They are loaded once (`preloadModules`), because loading them for each
 * run would take most of a run's memory and time. A module here must not keep state between two uses, or one run could
 * learn what another did: a run keeps its state in its gate, and other state in `run-local.ts`.
 * `test/workflows/replay/preloaded.test.ts` checks both.
 */
import '../contract.ts';
import './interceptors.ts';
import './agent/agent-run.ts';
import './channels/approval-channels.ts';
import './channels/standing-delegation.ts';
import './guarded/approval-gate.ts';
import './guarded/for-model.ts';
import './sandbox/payload-converter.ts';

declare const __webpack_modules__: Record<string, unknown>;
declare const __webpack_require__: (id: string) => { UnicodeTables: object };

/**
 * Freezes the Unicode tables of RE2. The SDK freezes what runs share, and to do so it reads every property of an object
 * that is not frozen yet. Some properties of these tables are computed from all characters of Unicode, which took a
 * third of the time that a worker needs to start.
 */
for (const id of Object.keys(__webpack_modules__)) {
  if (id.endsWith('@bufbuild/re2/dist/esm/UnicodeTables.js')) Object.freeze(__webpack_require__(id).UnicodeTables);
}
