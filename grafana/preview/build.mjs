// Bundles src/ into site/host.js and site/host.css; `--dev` keeps names readable.
import * as esbuild from 'esbuild';

const asData = Object.fromEntries(['.svg', '.png', '.woff2', '.ttf'].map((kind) => [kind, 'dataurl']));

await esbuild.build({
  entryPoints: ['src/host.tsx'],
  outfile: 'site/host.js',
  bundle: true,
  format: 'iife',
  jsx: 'automatic',
  minify: !process.argv.includes('--dev'),
  legalComments: 'external',
  define: { 'process.env.NODE_ENV': '"production"', 'process.env.DEBUG': 'undefined', global: 'globalThis' },
  loader: { ...asData, '.css': 'css' },
  logLevel: 'error',
});
