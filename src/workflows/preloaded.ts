// oxlint-disable no-underscore-dangle -- webpack gives its table of modules such names
/**
 * The modules that all runs of a worker share. The SDK loads them once (`preloadModules`), because a copy for each run
 * would take most of the run's memory and time. They keep no state, or one run could learn what another did: state is
 * in the gate or in `run-local.ts`. `test/workflows/replay/preloaded.test.ts` checks the list and the modules.
 */
import '../contract.ts';
import './interceptors.ts';
import './agent/agent-run.ts';
import './channels/approval-channels.ts';
import './channels/standing-delegation.ts';
import './guarded/approval-gate.ts';
import './guarded/call-gated.ts';
import './sandbox/payload-converter.ts';

declare const __webpack_modules__: Record<string, unknown>;
declare const __webpack_require__: (id: string) => { UnicodeTables: object };

/**
 * Freezes the Unicode tables of RE2. The SDK would freeze them itself, but would first read each of their properties.
 * Some are computed from all of Unicode when they are read, which takes a third of a worker's start.
 */
for (const id of Object.keys(__webpack_modules__)) {
  if (id.endsWith('@bufbuild/re2/dist/esm/UnicodeTables.js')) Object.freeze(__webpack_require__(id).UnicodeTables);
}
