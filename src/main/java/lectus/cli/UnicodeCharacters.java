package lectus.cli;

import java.util.Locale;
import java.util.stream.IntStream;
import lectus.json.JsonBuffer;

/**
 * Every JDK's Unicode character database as documents. Each assigned character has its id (U+0041),
 * name, block, script, category, numeric value, bidirectional class, case mappings, and the
 * character itself. About 140 000 documents of real, international data.
 */
public final class UnicodeCharacters {
  private static final String[] CATEGORIES = categories();

  private UnicodeCharacters() {}

  /** Returns the code points of characters: not unassigned, private use or surrogates. */
  public static IntStream all() {
    return IntStream.rangeClosed(Character.MIN_CODE_POINT, Character.MAX_CODE_POINT)
        .filter(UnicodeCharacters::isAssigned);
  }

  private static boolean isAssigned(int codePoint) {
    return switch (Character.getType(codePoint)) {
      case Character.UNASSIGNED, Character.PRIVATE_USE, Character.SURROGATE -> false;
      default -> true;
    };
  }

  /** Returns the id of a character's document. */
  public static String id(int codePoint) {
    return String.format(Locale.ROOT, "U+%04X", codePoint);
  }

  /** Appends a character's document. */
  public static void write(int codePoint, JsonBuffer out) {
    out.ascii("{\"_id\":").string(id(codePoint));
    out.ascii(",\"code\":").number(codePoint);
    out.ascii(",\"character\":").string(Character.toString(codePoint));
    out.ascii(",\"name\":").string(Character.getName(codePoint));
    member(out, "block", nameOf(Character.UnicodeBlock.of(codePoint)));
    member(out, "script", Character.UnicodeScript.of(codePoint).name());
    member(out, "category", CATEGORIES[Character.getType(codePoint)]);
    member(out, "bidi", bidiClass(codePoint));
    out.ascii(",\"mirrored\":").bool(Character.isMirrored(codePoint));
    writeNumericValue(codePoint, out);
    writeCaseMappings(codePoint, out);
    out.octet('}');
  }

  private static void writeNumericValue(int codePoint, JsonBuffer out) {
    // -1: none; -2: not a non-negative integer, such as a half
    int value = Character.getNumericValue(codePoint);
    if (value >= 0) {
      out.ascii(",\"numeric\":").number(value);
    }
  }

  private static void writeCaseMappings(int codePoint, JsonBuffer out) {
    String itself = Character.toString(codePoint);
    String upper = itself.toUpperCase(Locale.ROOT);
    String lower = itself.toLowerCase(Locale.ROOT);
    String title = Character.toString(Character.toTitleCase(codePoint));
    out.ascii(",\"case\":{");
    boolean any = mapping(out, false, "upper", upper, itself);
    any = mapping(out, any, "lower", lower, itself);
    mapping(out, any, "title", title, itself);
    out.octet('}');
  }

  private static boolean mapping(
      JsonBuffer out, boolean comma, String name, String mapped, String itself) {
    if (mapped.equals(itself)) {
      return comma;
    }
    if (comma) {
      out.octet(',');
    }
    out.string(name).octet(':').string(mapped);
    return true;
  }

  private static void member(JsonBuffer out, String name, String value) {
    out.octet(',').string(name).octet(':').string(value);
  }

  private static String nameOf(Character.UnicodeBlock block) {
    return block == null ? "NO_BLOCK" : block.toString();
  }

  private static String bidiClass(int codePoint) {
    return switch (Character.getDirectionality(codePoint)) {
      case Character.DIRECTIONALITY_LEFT_TO_RIGHT -> "L";
      case Character.DIRECTIONALITY_RIGHT_TO_LEFT -> "R";
      case Character.DIRECTIONALITY_RIGHT_TO_LEFT_ARABIC -> "AL";
      case Character.DIRECTIONALITY_EUROPEAN_NUMBER -> "EN";
      case Character.DIRECTIONALITY_EUROPEAN_NUMBER_SEPARATOR -> "ES";
      case Character.DIRECTIONALITY_EUROPEAN_NUMBER_TERMINATOR -> "ET";
      case Character.DIRECTIONALITY_ARABIC_NUMBER -> "AN";
      case Character.DIRECTIONALITY_COMMON_NUMBER_SEPARATOR -> "CS";
      case Character.DIRECTIONALITY_NONSPACING_MARK -> "NSM";
      case Character.DIRECTIONALITY_BOUNDARY_NEUTRAL -> "BN";
      case Character.DIRECTIONALITY_PARAGRAPH_SEPARATOR -> "B";
      case Character.DIRECTIONALITY_SEGMENT_SEPARATOR -> "S";
      case Character.DIRECTIONALITY_WHITESPACE -> "WS";
      case Character.DIRECTIONALITY_OTHER_NEUTRALS -> "ON";
      case Character.DIRECTIONALITY_LEFT_TO_RIGHT_EMBEDDING -> "LRE";
      case Character.DIRECTIONALITY_LEFT_TO_RIGHT_OVERRIDE -> "LRO";
      case Character.DIRECTIONALITY_RIGHT_TO_LEFT_EMBEDDING -> "RLE";
      case Character.DIRECTIONALITY_RIGHT_TO_LEFT_OVERRIDE -> "RLO";
      case Character.DIRECTIONALITY_POP_DIRECTIONAL_FORMAT -> "PDF";
      case Character.DIRECTIONALITY_LEFT_TO_RIGHT_ISOLATE -> "LRI";
      case Character.DIRECTIONALITY_RIGHT_TO_LEFT_ISOLATE -> "RLI";
      case Character.DIRECTIONALITY_FIRST_STRONG_ISOLATE -> "FSI";
      case Character.DIRECTIONALITY_POP_DIRECTIONAL_ISOLATE -> "PDI";
      default -> "undefined";
    };
  }

  private static String[] categories() {
    String[] names = new String[31];
    names[Character.UPPERCASE_LETTER] = "Lu";
    names[Character.LOWERCASE_LETTER] = "Ll";
    names[Character.TITLECASE_LETTER] = "Lt";
    names[Character.MODIFIER_LETTER] = "Lm";
    names[Character.OTHER_LETTER] = "Lo";
    names[Character.NON_SPACING_MARK] = "Mn";
    names[Character.ENCLOSING_MARK] = "Me";
    names[Character.COMBINING_SPACING_MARK] = "Mc";
    names[Character.DECIMAL_DIGIT_NUMBER] = "Nd";
    names[Character.LETTER_NUMBER] = "Nl";
    names[Character.OTHER_NUMBER] = "No";
    names[Character.SPACE_SEPARATOR] = "Zs";
    names[Character.LINE_SEPARATOR] = "Zl";
    names[Character.PARAGRAPH_SEPARATOR] = "Zp";
    names[Character.CONTROL] = "Cc";
    names[Character.FORMAT] = "Cf";
    names[Character.DASH_PUNCTUATION] = "Pd";
    names[Character.START_PUNCTUATION] = "Ps";
    names[Character.END_PUNCTUATION] = "Pe";
    names[Character.CONNECTOR_PUNCTUATION] = "Pc";
    names[Character.OTHER_PUNCTUATION] = "Po";
    names[Character.INITIAL_QUOTE_PUNCTUATION] = "Pi";
    names[Character.FINAL_QUOTE_PUNCTUATION] = "Pf";
    names[Character.MATH_SYMBOL] = "Sm";
    names[Character.CURRENCY_SYMBOL] = "Sc";
    names[Character.MODIFIER_SYMBOL] = "Sk";
    names[Character.OTHER_SYMBOL] = "So";
    return names;
  }
}
