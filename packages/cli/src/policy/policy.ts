import { type Command, Option } from 'commander';
import { risks } from 'countersign/base';
import { modes } from 'countersign/policy';
import { withClientFlags, withCommonOptions } from '../base/command-line.ts';
import { jsonFields } from '../base/json-fields.ts';
import { processOutput } from '../base/output.ts';
import { withReviewer, withSigner } from '../base/reviewer.ts';
import type { PolicyCheckOptions } from './policy-check.ts';
import type { ExplainOptions } from './policy-explain.ts';
import type { EvalOptions } from './policy-eval.ts';
import type { InitOptions } from './policy-init.ts';
import type { ApplyOptions } from './policy-apply-all.ts';
import type { Owner } from './policy-file.ts';

const owners: readonly Owner[] = ['ceiling', 'agent', 'run'];

/** Adds the commands of policies. Only `apply` needs a server. Each loads its parsers when it runs. */
export function addPolicy(policy: Command): void {
  const as = (): Option => new Option('--as <owner>', 'the owner of the policy').choices(owners).default('ceiling');

  withCommonOptions(policy.command('check <file>'))
    .description('list the problems of a policy file, as FILE:LINE:COL message')
    .addOption(as())
    .option(
      '--module <module>',
      'also list names that the tools and agents of this module lack, and steps that its channels do not send',
    )
    .action(async (file: string, options: PolicyCheckOptions) => {
      const { checkPolicyFile } = await import('./policy-check.ts');
      await checkPolicyFile(file, options, processOutput(options));
    });

  withCommonOptions(policy.command('explain <file>'))
    .description('show the ruling of a policy on one call, with the result of each rule')
    .addOption(as())
    .requiredOption('--tool <name>', 'the tool that is called')
    .option('--args <json>', 'its arguments', '{}')
    .addOption(new Option('--risk <risk>', "the tool's risk").choices([...risks, 'unknown']).default('write'))
    .option(
      '--subject <subject>',
      `the argument that patterns match: its name, or '{"argument":NAME,"shell":true,"beside":[NAME,…]}'`,
    )
    .option('--agent <name>', 'the agent that calls (default: one that the policy does not name)')
    .option('--sums <json>', `what earlier calls add up to, as in '{"refund":{"amount":700}}'`)
    .addOption(new Option('--mode <mode>', "the run's mode").choices(modes))
    .action(async (file: string, options: ExplainOptions) => {
      const { explainPolicy } = await import('./policy-explain.ts');
      await explainPolicy(file, options, processOutput(options));
    });

  withCommonOptions(policy.command('eval <file>'))
    .description('answer many calls, one JSON value a line in and out')
    .addOption(as())
    .requiredOption(
      '--cases <file>',
      'lines of { id?, tool, args, risk?, subject?, agent?, sums?, mode? }; - is standard input',
    )
    .action(async (file: string, options: EvalOptions) => {
      const { evalPolicy } = await import('./policy-eval.ts');
      await evalPolicy(file, options, processOutput(options));
    });

  withCommonOptions(policy.command('init [file]'))
    .description('write a preset to a policy file (default: countersign.policy.yaml)')
    .option('--preset <name>', 'which one; --list shows them', 'practical')
    .option('--list', 'show the presets and write nothing')
    .option('--force', 'replace a file that exists')
    .action(async (file: string | undefined, options: InitOptions) => {
      const { initPolicy } = await import('./policy-init.ts');
      await initPolicy(file, options, processOutput(options));
    });

  const apply = withClientFlags(policy.command('apply [run] [file]'), jsonFields.policyChange)
    .description("change the policy of a running run, or of all that are meant, below the operator's")
    .addOption(new Option('--mode <mode>', 'a mode that changes its answers').choices(modes))
    .option('--channels <names...>', "the worker's channels that carry its requests from now on")
    .addOption(new Option('--all', 'no run, but all that are open and have a gate').conflicts('query'))
    .option(
      '--query <query>',
      "no run, but all open ones that this visibility query finds, such as WorkflowType='order'",
    )
    .option('--dry-run', 'with --all or --query: say which runs would change, and change none')
    .option('--yes', 'with --all or --query: do not ask whether to go on');
  withSigner(withReviewer(apply, 'why; the audit keeps it')).action(
    async (run: string | undefined, file: string | undefined, options: ApplyOptions) => {
      const { applyPolicy } = await import('./policy-eval.ts');
      const words = [run, file].filter((word) => word !== undefined);
      await applyPolicy(words, options);
    },
  );
}
