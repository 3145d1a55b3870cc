/** Throws one sentence in a Node that is too old. Import it before all else, which may fail there in other ways. */
const { node: version } = process.versions;
const [major = 0, minor = 0] = version.split('.').map(Number);

if (major < 22 || (major === 22 && minor < 21)) {
  throw new Error(`Countersign needs Node 22.21 or newer; this is Node ${version} (${process.execPath}).`);
}
