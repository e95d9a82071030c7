// Validates glTF files with Khronos' gltf-validator and prints one JSON object: file name -> {errors, warnings, infos, hints, messages}.
// usage: node validate_gltf.mjs NODE_MODULES FILE...     NODE_MODULES is the folder that holds gltf-validator
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [modules, ...files] = process.argv.slice(2);
const validator = createRequire(resolve(modules, "here.js"))("gltf-validator");
const results = {};
for (const file of files) {
  const { issues } = await validator.validateBytes(new Uint8Array(readFileSync(file)), { uri: file });
  results[file] = {
    errors: issues.numErrors,
    warnings: issues.numWarnings,
    infos: issues.numInfos,
    hints: issues.numHints,
    messages: issues.messages.map((m) => `${m.code} at ${m.pointer}: ${m.message}`),
  };
}
console.log(JSON.stringify(results));
