// Drawings for the pictures of the documentation: faces and places, made of a few shapes, so that nobody's rights are touched.

const svg = (width, height, content) => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">${content}</svg>`
const fade = (id, ...colours) => `<linearGradient id="${id}" x2="0" y2="1">${colours.map((c, i) => `<stop offset="${i / (colours.length - 1)}" stop-color="${c}"/>`).join('')}</linearGradient>`

// hills returns a range of hills at a height.
const hills = (y, colour, waves) => {
  const points = Array.from({ length: 61 }, (_, i) => `${i * 20},${y + waves.reduce((sum, [size, length, shift]) => sum + size * Math.sin(i / length + shift), 0)}`)
  return `<path fill="${colour}" d="M0,800 L${points.join(' L')} L1200,800 Z"/>`
}

export const places = {
  train: svg(1200, 800, `<defs>${fade('sky', '#27305e', '#8a5a83', '#f0a36b', '#f9d9a0')}</defs><rect width="1200" height="800" fill="url(#sky)"/><circle cx="820" cy="430" r="62" fill="#ffe9b8"/>
${hills(470, '#6b5a86', [[40, 7, 1], [18, 3, 2]])}${hills(545, '#4a4874', [[36, 6, 4], [14, 2.500, 0]])}${hills(640, '#2b2f55', [[26, 9, 2], [9, 2, 1]])}
<g fill="none" stroke="#171a33" stroke-width="46"><rect x="23" y="23" width="1154" height="754" rx="60"/></g><rect x="0" y="690" width="1200" height="110" fill="#171a33"/>
<g transform="translate(250 610)"><path d="M0,0 h120 v52 a40,40 0 0 1 -40,40 h-40 a40,40 0 0 1 -40,-40 z" fill="#f3ead8"/><path d="M120,14 h20 a20,20 0 0 1 0,44 h-20" fill="none" stroke="#f3ead8" stroke-width="12"/><path d="M30,-16 q14,-22 0,-44 M70,-16 q14,-22 0,-44" stroke="#fff" stroke-opacity=".5" stroke-width="8" fill="none"/></g>`),
  sea: svg(1200, 800, `<defs>${fade('sky', '#7fc4e8', '#d7f0f7')}${fade('sea', '#2f86a8', '#0f4d6d')}</defs><rect width="1200" height="430" fill="url(#sky)"/><rect y="420" width="1200" height="380" fill="url(#sea)"/>
<g fill="#fff" opacity=".85"><ellipse cx="260" cy="150" rx="150" ry="34"/><ellipse cx="330" cy="126" rx="90" ry="36"/><ellipse cx="900" cy="210" rx="120" ry="26"/></g>
<g transform="translate(690 300)"><path d="M0,0 L0,150 L-120,150 Z" fill="#fff"/><path d="M14,30 L14,150 L100,150 Z" fill="#f2d9c8"/><path d="M-140,160 h270 l-40,46 h-190 z" fill="#b5483a"/></g>
<path d="M0,640 q150,-26 300,0 t300,0 t300,0 t300,0" stroke="#fff" stroke-opacity=".35" stroke-width="8" fill="none"/><path d="M0,720 q150,-26 300,0 t300,0 t300,0 t300,0" stroke="#fff" stroke-opacity=".25" stroke-width="8" fill="none"/>`),
  garden: svg(1200, 800, `<defs>${fade('sky', '#dff1e6', '#f7f5dc')}</defs><rect width="1200" height="800" fill="url(#sky)"/>${hills(430, '#a9cf9a', [[30, 8, 1]])}${hills(520, '#6fae6b', [[20, 5, 2]])}
${Array.from({ length: 9 }, (_, i) => { const x = 90 + i * 128, y = 470 + (i % 3) * 50, c = ['#e4572e', '#f2b134', '#c2488f'][i % 3]; return `<path d="M${x},800 Q${x + 12},${y + 160} ${x},${y}" stroke="#2f6b3a" stroke-width="12" fill="none"/><g fill="${c}">${[0, 60, 120, 180, 240, 300].map((a) => `<ellipse cx="${x}" cy="${y - 34}" rx="20" ry="36" transform="rotate(${a} ${x} ${y})"/>`).join('')}</g><circle cx="${x}" cy="${y}" r="22" fill="#5b3a1e"/>` }).join('')}`),
  bread: svg(1200, 800, `<rect width="1200" height="800" fill="#e9dcc8"/><path d="M0,560 H1200 V800 H0 Z" fill="#b78a5c"/><ellipse cx="600" cy="600" rx="470" ry="90" fill="#7b5230"/><path d="M190,560 C190,300 380,230 600,230 S1010,300 1010,560 Z" fill="#c4803f"/><path d="M250,520 C270,330 420,280 600,280" fill="none" stroke="#e6b373" stroke-width="26" stroke-linecap="round"/>
<g stroke="#f1d3a3" stroke-width="20" stroke-linecap="round">${[430, 570, 710, 850].map((x) => `<path d="M${x},330 l-70,150"/>`).join('')}</g>`),
  cat: svg(1200, 800, `<defs>${fade('pane', '#2c3f66', '#5e7da8')}</defs><rect width="1200" height="800" fill="#e5d3c0"/><rect x="170" y="60" width="860" height="560" fill="url(#pane)" stroke="#fff" stroke-width="26"/><path d="M600,60 V620" stroke="#fff" stroke-width="20"/><circle cx="860" cy="190" r="54" fill="#f5f0d8"/><rect x="110" y="620" width="980" height="50" fill="#fff"/>
<g fill="#2b2426"><path d="M330,620 C300,430 390,380 460,380 S640,440 620,620 Z"/><circle cx="450" cy="330" r="88"/><path d="M372,290 L366,196 L430,250 Z M528,290 L534,196 L470,250 Z"/><path d="M610,600 C760,610 780,520 730,470" fill="none" stroke="#2b2426" stroke-width="34" stroke-linecap="round"/></g><g fill="#f2c14e"><ellipse cx="420" cy="326" rx="15" ry="20"/><ellipse cx="482" cy="326" rx="15" ry="20"/></g>`),
}

// face returns a portrait: the colours of the background, the skin, the hair and the clothes, and what the hair is like.
export const face = (background, skin, hair, clothes, style) => {
  const locks = {
    short: `<path d="M120,180 C110,80 170,60 205,60 S300,80 280,180 C262,130 240,122 200,122 S138,130 120,180 Z" fill="${hair}"/>`,
    long: `<path d="M104,330 C90,90 150,52 200,52 S310,90 296,330 C270,330 268,300 270,190 C240,150 220,130 200,130 S160,150 130,190 C132,300 130,330 104,330 Z" fill="${hair}"/>`,
    curly: `<g fill="${hair}">${[[130, 130], [150, 90], [190, 70], [230, 74], [262, 100], [276, 140], [120, 170], [282, 176]].map(([x, y]) => `<circle cx="${x}" cy="${y}" r="36"/>`).join('')}</g>`,
    scarf: `<path d="M100,250 C90,90 150,56 200,56 S310,90 300,250 C300,330 250,350 200,350 S100,330 100,250 Z" fill="${hair}"/>`,
  }
  const front = style === 'curly' || style === 'short'
  return svg(400, 400, `<rect width="400" height="400" fill="${background}"/>${front ? '' : locks[style]}<path d="M60,400 C70,300 140,290 200,290 S330,300 340,400 Z" fill="${clothes}"/><path d="M168,240 h64 v64 q-32,26 -64,0 z" fill="${skin}"/><ellipse cx="200" cy="190" rx="${style === 'scarf' ? 66 : 76}" ry="88" fill="${skin}"/>${front ? locks[style] : ''}
${style === 'long' ? `<path d="M126,190 C130,110 170,104 200,104 S272,112 274,190 C250,140 226,132 200,132 S150,140 126,190 Z" fill="${hair}"/>` : ''}<circle cx="172" cy="192" r="8" fill="#2b211d"/><circle cx="228" cy="192" r="8" fill="#2b211d"/><path d="M174,232 q26,22 52,0" stroke="#7a3b33" stroke-width="7" fill="none" stroke-linecap="round"/>`)
}

// draw returns drawings as JPEG files.
export async function draw(browser, drawings) {
  const page = await browser.newPage()
  const files = {}
  for (const [name, source] of Object.entries(drawings)) {
    await page.setContent(`<style>body{margin:0}svg{display:block}</style>${source}`)
    files[name] = await page.locator('svg').screenshot({ type: 'jpeg', quality: 85 })
  }
  await page.close()
  return files
}
