/**
 * What all runs of a worker share: loaded once (`preloadModules`), not once for each run, of whose memory and time it
 * would be the greater part (B5). Only what keeps no state belongs here, so core and the contract, with the libraries
 * they need; modules beside this one keep state of their run. `test/workflows/preloaded.test.ts` watches both.
 */
import '../contract.ts';
import '../core/admission.ts';
import '../core/approval-index.ts';
import '../core/ask-terms.ts';
import '../core/assess-recorded.ts';
import '../core/assess-rule.ts';
import '../core/attribute-names.ts';
import '../core/byte-length.ts';
import '../core/canonical-json.ts';
import '../core/control.ts';
import '../core/decision.ts';
import '../core/digest.ts';
import '../core/entitlement.ts';
import '../core/escape-text.ts';
import '../core/gated-activity.ts';
import '../core/identify.ts';
import '../core/is-replaced.ts';
import '../core/ladder.ts';
import '../core/ledger.ts';
import '../core/limits.ts';
import '../core/listed-request.ts';
import '../core/make-grant.ts';
import '../core/nesting.ts';
import '../core/panel.ts';
import '../core/permit-mark.ts';
import '../core/ruling.ts';
import '../core/run-side.ts';
import '../core/sentences.ts';
import '../core/shell-parts.ts';
import '../core/size-limits.ts';
import '../core/tool-failure.ts';
import '../core/undecodable.ts';
