/*
 * Words that say little about what is asked. They count less, not nothing: a list of dangers is what the guards are
 * for, and "how" is all that tells one question from another now and then.
 */

const ENGLISH = `
a an the is are was were be been am do does did can could would should will shall may might must i me my mine you your
we our us it its this that these those there here to of in on at for from by with about into and or if so as than then
what which who whom whose when where why how please tell want need know get have has had just any some hi hello hey
thanks thank s t d ll m re ve let give help like
`;

export const COMMON_WORDS: ReadonlySet<string> = new Set(ENGLISH.trim().split(/\s+/));

/** Code units of common Chinese characters. */
export const COMMON_CHARACTERS: ReadonlySet<number> = new Set(
  Array.from('的了吗呢啊吧呀么嘛哦我你您请个是有在给想要帮一下把什怎就都这那会能可以', character =>
    character.charCodeAt(0),
  ),
);
