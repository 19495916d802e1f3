#!/usr/bin/env python3
"""Writes tests/golden/regex.json: patterns, texts and the spans (in bytes) of all non-empty matches, as found by the
Oniguruma inside Hugging Face tokenizers, the library whose splits kvserve must reproduce.

    pip install tokenizers==0.22.2
    python3 tests/golden/make_regex.py > tests/golden/regex.json
"""
import json
import random
from tokenizers import Regex, pre_tokenizers

NO_HAN = r"&&[^\p{Han}]"
LOW = r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
UP = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}"
TAIL = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
MODELS = [
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",  # GPT-2

    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+",  # Llama 3
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+",  # Qwen

    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$"
    r"|\s*[\r\n]|\s+(?!\S)|\s",  # cl100k
    rf"[^\r\n\p{{L}}\p{{N}}]?[{UP}]*[{LOW}]+{TAIL}|[^\r\n\p{{L}}\p{{N}}]?[{UP}]+[{LOW}]*{TAIL}|\p{{N}}{{1,3}}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",  # o200k

    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
    "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",  # DeepSeek
    "[一-龥぀-ゟ゠-ヿ]+",
    rf"[\p{{Han}}]+|[^\r\n\p{{L}}\p{{N}}]?[{UP}{NO_HAN}]*[{LOW}{NO_HAN}]+{TAIL}"
    rf"|[^\r\n\p{{L}}\p{{N}}]?[{UP}{NO_HAN}]+[{LOW}{NO_HAN}]*{TAIL}|\p{{N}}{{1,3}}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",  # Kimi
    r"(?=(\d{3})+(?!\d))",  # SuperBPE
    r"\p{N}{1,3}(?=(?:\p{N}{3})*(?:\P{N}|$))",
]
MODEL_TEXTS = [
    "Hello world's end, I'LL DON'T we've x'S 'ſ a'D", "  two  spaces   three\n\n\nlines \r\n \r\nend  ",
    "tab\t\ttab\u00a0nbsp\u3000wide\u0085nel\u2028",
    "HELLOWorld helloWORLD ÉCOLE Über straße ǅ ʰ x", "1 12 123 1234 1234567 ²³½ Ⅷ ٣٤٥ ⓐ 12345678901",
    "汉字漢字 かな カタカナ 한국어 x汉y",
    "العربية हिन्दी e\u0301 a\u0301\u0302 \u0301\u0301 ไทย", "a.b(c)[d]{e}/*f*/ //g --h ==i ...\n!!\r\n##x",
    "😀👨\u200d👩\u200d👧 \u200b\ufeff 𝒳 \U0001e900 \u1c89 \u0378 \x00 \x7f",
    "", " ", "\n", " \n x", "   'tis '", "snake_case CamelCase kebab-case x=1;y+=2",
]
HAND = {
    r"a|ab|abc": ["abc"], r"abc|ab|a": ["abcab"], r"(?:a|ab)(?:c|bcd)": ["abcd", "acabcd"], r"a*": ["aab", "b"],
    r"a*?b": ["aaab"],
    r"a+?": ["aaa"], r"a??b": ["ab"], r"(?:ab)+?c": ["ababc"], r"(?:ab)*a": ["ababa"], r"(a|b)*?c": ["abac"],
    r"a{2}": ["aaaaa"],
    r"a{2,}": ["a", "aaaa"], r"a{,2}": ["aaaaa"], r"a{2,3}?": ["aaaaa"], r"a{2}?": ["aaaaa"], r"a{1,2}+": ["aaaaa"],
    r"(?:ab){2,3}": ["abababab"],
    r"a{": ["a{"], r"a{,}": ["a{,}"], r"a{x}": ["a{x}"], r"a}": ["a}"], r"a]": ["a]"], r"a*+a": ["aaa"],
    r"a?+a": ["aa"], r"(?>a*)b": ["aab"],
    r"(?>a+)a": ["aaa"], r"^a": ["a\na\n", "ba"], r"a$": ["a\na", "ab"], r"^$": ["a"], r"\Aa": ["aa", "\na"],
    r"a\z": ["aa", "a\n"], r"a\Z": ["aa", "a\n", "a\n\n"],
    r"\n^": ["a\n\nb", "a\n"], r"\ba": ["a ba a", "éa"], r"a\b": ["ab a é a"], r"\Ba": ["aa ba"],
    r"a(?=b)": ["abac"], r"a(?!b)": ["abac"], r"(?=a)\w": ["ba"],
    r"(?!a)\w": ["ba"], r"a(?=\d+b)": ["a12b a12c"], r"(?=.*b)a": ["aab a"], r"(?!.*b)a": ["aab a"],
    r"a(?=b(?!c))": ["abc abd"], r"(?:(?=a)a|b)+": ["abcab"],
    r".": ["a\n\r汉"], r"(?m:.)": ["a\n"], r"(?m).+": ["a\nb"], r".+": ["a\nb\u2028c"], r"(?i)abc": ["ABC aBc"],
    r"(?i:a)b": ["AB Ab ab"], r"a(?i)b|c": ["aB C aC"],
    r"(?i:a(?-i:b))": ["AB Ab"], r"(?-i:a)": ["aA"], r"(?i-m:a.)": ["A\nAb"], r"(?i:k)": ["kK\u212a"],
    r"(?i:s)": ["sSſ"], r"(?i:é)": ["éÉe"], r"(?i:ǆ)": ["ǅǄǆ"],
    r"(?i:µ)": ["μΜµ"], r"(?i:σ)": ["ςΣσ"], r"(?i:[a-z]+)": ["aſ\u212aé"], r"(?i:[^s]+)": ["xsSſy"],
    r"(?i:\p{Lu})": ["aAé"], r"(?i:[\p{Lu}])": ["aAé1"],
    r"(?i:[^\p{Lu}])": ["aA1"], r"(?i:Ა)": ["აᲐ"], r"(?i:ꭰ)": ["Ꭰꭰ"], r"[abc]+": ["xabcx"], r"[^abc]+": ["xabcx\n"],
    r"[a-c]+": ["abcd"], r"[-a]+": ["a-b"],
    r"[a-]+": ["a-b"], r"[\]a]+": ["a]b"], r"[a\-z]+": ["a-mz"], r"[\\]": ["\\"], r"[.*+?]+": ["a.*+?b"],
    r"[\d\s]+": ["a1 2b"], r"[^\d\s]+": ["a1 2b"],
    r"[\w-]+": ["a-b c"], r"[[ab]c]+": ["abcd"], r"[a[^b]]+": ["abc"], r"[a-z&&[^b]]+": ["abc"],
    r"[^a-z&&[^b]]+": ["abC1"], r"[a-z&&b-y&&[^c]]+": ["abcde"],
    r"[\x41\x{42}\u0043]+": ["ABCD"], r"\x41\x{1F600}": ["A😀"], r"\t\n\r\f\v\a\e": ["\t\n\r\f\v\a\x1b"],
    r"\.\*\/\-\'\"": [".*/-'\""], r"[\b]": ["\b"],
    r"\s+": [" \t\n\x0b\f\r\x85\xa0\u1680\u2000\u2028\u202f\u205f\u3000\u200b"], r"\S+": ["a\u200b b"],
    r"\d+": ["12٣²Ⅷ"], r"\D+": ["1a٣b"],
    r"\w+": ["a_1é汉\u0301²ⓐ-b\u203f"], r"[\w]+": ["a²½b"], r"\W+": ["a ²-b"], r"[^\w]+": ["a ²-b"],
    r"\p{L}+": ["aé汉ʰǅ1"], r"\P{L}+": ["a1 b"], r"\p{^L}+": ["a1 b"],
    r"\P{^L}+": ["a1 b"], r"\p{Lu}\p{Ll}": ["AaǅaÉé"], r"\p{M}+": ["a\u0301\u0903\u20dd"], r"\p{N}+": ["1²Ⅷ"],
    r"\p{P}+": ["a!-_(«»"], r"\p{S}+": ["a+$^©"],
    r"\p{Z}+": ["a \u2028\u2029\xa0"], r"\p{C}+": ["a\x00\xad\ue000\u0378"], r"\p{Zs}": ["\t \xa0"],
    r"\p{Cc}": ["\t\x7f\x85"], r"\p{Han}+": ["漢字かな々〇"],

    r"\p{Nl}|\p{No}|\p{Pc}|\p{Pd}|\p{Ps}|\p{Pe}|\p{Pi}|\p{Pf}|\p{Po}": ["Ⅷ²_-()«»!+"],
    r"\p{Sm}|\p{Sc}|\p{Sk}|\p{So}|\p{Mn}|\p{Mc}|\p{Me}|\p{Cf}|\p{Cn}|\p{Co}": ["+$^©\u0301\u0903\u20dd\xad\u0378a"],
    r"[а-я]+": ["Привет мир"], r"[一-龥]+": ["a汉字b"], r"汉|字": ["汉字"], r"(?:汉字)+": ["汉字汉字汉"], r"é+": ["ééé"],
    r"[é-ü]+": ["éêüý"],
    r"a||b": ["ab"], r"|a": ["a"], r"(?:)": ["ab"], r"()a": ["a"], r"(a)(b)(c)": ["abc"], r"((a))": ["a"],
    r"(?:a(?:b(?:c|d)|e)|f)+": ["abcabdaef"],
    r"(?:a+b)+": ["aababb"], r"(?:a|b)+c|a": ["ababa", "abac"], r"(?:a+)+b": ["aaab", "aaaa"],
    r"(?:aa|a)+b|a": ["aaaab", "aaa"], r"(?:a{1,2}){2}": ["aaaaa"],
    r"x*(?:ab)?y": ["xxaby y"], r"a.*b": ["a1b2b\nab"], r"a.*?b": ["a1b2b"],
    r"(?:foo|bar|foobar)(?!x)": ["foobarx foobar barx"], r"(?: a| b)+(?! )": [" a b c"],
    r"0|1|2|3|4|5|6|7|8|9|a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p|q|r|s|t|u|v|w|x|yy|yz|y": ["09azyyzy"],
}
# No s: under (?i) a class with the sharp s also takes "ss" there, but not here.
CHARS = list("aabbc kK\u212aéÉ12\n\r.Ая汉A\u0301²")

QUANTIFIERS = ["", "", "", "*", "+", "?", "*?", "+?", "{2}", "{1,2}", "{2,}", "??", "{0,3}?", "*+", "++", "?+",
               "{1,2}+"]


def random_pattern(depth=0):
    def one():
        x = random.random()
        if x < .4:
            return random.choice(["a", "b", "c", " ", "k", "é", "1", r"\n", r"\.", "汉"])
        if x < .6:
            items = random.sample("a b c a-c é \\s \\d \\p{L} \\P{Lu} \\n А-я [bk]".split(), 2)
            return "[" + random.choice(["", "^"]) + "".join(items) + "]"
        return random.choice([".", r"\s", r"\S", r"\d", r"\w", r"\p{L}", r"\p{Lu}", r"\P{N}"])

    def piece():
        if depth < 2 and random.random() < .25:
            return random.choice(["(?=", "(?!", "(?i:", "(?:", "("]) + random_pattern(depth + 1) + ")"
        if depth < 2 and random.random() < .2:     # what is repeated begins with a character: it cannot be empty
            return "(?:" + one() + "(?:" + random_pattern(depth + 1) + "))" + random.choice(QUANTIFIERS[3:11])
        return one() + random.choice(QUANTIFIERS)

    return "|".join("".join(piece() for _ in range(random.randint(1, 3))) for _ in range(random.choice([1, 2, 2, 3])))


def spans(pattern, text):
    offset = [0]
    for ch in text:
        offset.append(offset[-1] + len(ch.encode()))
    split = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
    return [x for _, (a, b) in split.pre_tokenize_str(text) for x in (offset[a], offset[b])]


def main():
    random.seed(20)
    cases = [(p, MODEL_TEXTS) for p in MODELS] + list(HAND.items())
    while len(cases) < 400:
        pattern = random_pattern()
        if len(pattern) > 60:
            continue
        cases.append((pattern, ["".join(random.choice(CHARS) for _ in range(random.randint(3, 12))) for _ in range(3)]))
    rows = [json.dumps({"p": p, "c": [[t, spans(p, t)] for t in texts]}, separators=(",", ":")) for p, texts in cases]
    print("[\n" + ",\n".join(rows) + "\n]")


if __name__ == "__main__":
    main()
