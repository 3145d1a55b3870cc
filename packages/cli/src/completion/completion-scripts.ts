import type { CompletionWords, Word } from './completion-words.ts';

/**
 * Each script finds the command among the words before the cursor, up to the first flag, and offers its subcommands,
 * after a dash its flags, after a flag its values. Anything else may be a file.
 */

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

export const completionScripts: Record<Shell, (all: readonly CompletionWords[]) => string> = {
  bash: (all) => `# Completion of countersign in bash: source <(countersign completion bash)
_countersign() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" at='' word commands='' flags=''
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
${whichCommand(all)}
${valueCases(all, (values) => `commands=${quoted(values.join(' '))}`, 'return')}
    *) case "$at" in
${all
  .map(({ path, commands, flags }) => {
    return `      '${path}') commands=${quoted(wordsOf(commands))} flags=${quoted(wordsOf(flags))} ;;`;
  })
  .join('\n')}
    esac ;;
  esac
  [[ $current == -* ]] && commands="$flags"
  COMPREPLY=($(compgen -W "$commands" -- "$current"))
}
complete -o default -F _countersign countersign
`,

  zsh: (all) => `#compdef countersign
# Completion of countersign in zsh: source <(countersign completion zsh)
_countersign() {
  local before="\${words[CURRENT-1]}" at='' word
  local -a commands flags values
  for word in "\${(@)words[2,CURRENT-1]}"; do
${whichCommand(all)}
${valueCases(all, (values) => `values=(${values.map(quoted).join(' ')})`, '_files; return')}
    *) case "$at" in
${all
  .map(
    ({ path, commands, flags }) => `      '${path}') commands=(${described(commands)}) flags=(${described(flags)}) ;;`,
  )
  .join('\n')}
    esac ;;
  esac
  (( $#values )) && { _describe 'value' values; return }
  (( $#commands )) && _describe 'command' commands
  _describe -o 'flag' flags
  (( $#commands )) || _files
}
if [ "$funcstack[1]" = _countersign ]; then _countersign; else compdef _countersign countersign; fi
`,

  fish: (all) => `# Completion of countersign in fish: countersign completion fish | source
function __countersign_at
    set -l at ''
    for word in (commandline -opc)[2..-1]
        switch "$at/$word"
            case '*/-*'
                break
            case ${pathsOf(all).map(quoted).join(' ')}
                set at "$at/$word"
        end
    end
    test "$at" = "$argv[1]"
end
complete -c countersign -e
${all
  .flatMap(({ path, commands, flags }) =>
    [
      ...commands.map(({ word, about }) => `-f -a ${word} -d ${quotedForFish(about)}`),
      ...flags.map(({ word, about, needsValue, values }) => {
        const value = values.length > 0 ? `-x -a ${quoted(values.join(' '))} ` : needsValue ? '-r ' : '';
        return `-l ${word.slice(2)} ${value}-d ${quotedForFish(about)}`;
      }),
    ].map((offer) => `complete -c countersign -n "__countersign_at '${path}'" ${offer}`),
  )
  .join('\n')}
`,
};

/** For bash and zsh, in the loop over the words: finds the command. Then the cases for the word before the cursor begin. */
function whichCommand(all: readonly CompletionWords[]): string {
  return `    case "$at/$word" in
      */-*) break ;;
      ${pathsOf(all).join('|')}) at="$at/$word" ;;
    esac
  done
  case "$at $before" in`;
}

function pathsOf(all: readonly CompletionWords[]): string[] {
  return all.map(({ path }) => path).filter((path) => path !== '');
}

/** The cases for the word after a flag with a value: for flags with choices `choose`, for others `any`. */
function valueCases(
  all: readonly CompletionWords[],
  choose: (values: readonly string[]) => string,
  any: string,
): string {
  return all
    .flatMap(({ path, flags }) =>
      flags
        .filter(({ needsValue, values }) => needsValue || values.length > 0)
        .map(({ word, values }) => `    '${path} ${word}') ${values.length > 0 ? choose(values) : any} ;;`),
    )
    .join('\n');
}

function wordsOf(words: readonly Word[]): string {
  return words.map(({ word }) => word).join(' ');
}

/** The words with their descriptions, as zsh takes them. */
function described(words: readonly Word[]): string {
  return words.map(({ word, about }) => quoted(`${word}:${about}`)).join(' ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function quotedForFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
