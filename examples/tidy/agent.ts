/**
 * An agent that tidies a folder of real files, and asks a person before it deletes one.
 *
 *   countersign worker examples/tidy/agent.ts
 *
 * It works on TIDY_FOLDER, or else on `examples/tidy/folder`, which it fills with sample files if it does not exist.
 * Its tools log what they did to FOLDER.log.
 */
import { join, resolve } from 'node:path';
import { defineAgent, modelFromEnvironment, scriptedModel } from 'countersign';
import { layOutSampleFiles } from './sample-files.ts';
import { tidyTools } from './tools.ts';

const here = import.meta.dirname;
const folder = resolve(process.env.TIDY_FOLDER || join(here, 'folder'));
await layOutSampleFiles(folder);

const realModel = modelFromEnvironment(process.env);
if (realModel === undefined) {
  console.error('No OPENAI_API_KEY and no OPENAI_BASE_URL: the agent plays examples/tidy/turns.yaml.');
}

const tidy = defineAgent({
  name: 'tidy',
  instructions: [
    'You tidy one folder. Look first, then act in small steps: sort files into folders by what they are, delete what is',
    'a copy or a leftover. Paths are relative to the folder. A tool may answer that a call was denied: accept that, do',
    'not try it again, and go on with the rest. End with one short sentence about what you did.',
  ].join('\n'),
  model: realModel ?? scriptedModel(join(here, 'turns.yaml')),
  tools: tidyTools({ folder, log: `${folder}.log` }),
  maxTurns: 20,
});

// The policy is the operator's ceiling: no run of this worker can loosen it.
export default { agents: [tidy], policy: join(here, 'policy.yaml') };
