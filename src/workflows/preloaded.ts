/**
 * What all runs of a worker share: loaded once (`preloadModules`), not once for each run, of whose memory and time it
 * would be the greater part (B5). A module here keeps nothing between two uses, or one run could tell what another did:
 * what a run keeps is in its gate, and what it keeps beside it in `run-local.ts`. `test/workflows/preloaded.test.ts`
 * watches both.
 */
import '../contract.ts';
import './interceptors.ts';
import './agent/agent-run.ts';
import './guarded/approval-gate.ts';
import './guarded/for-model.ts';
import './sandbox/payload-converter.ts';
