package lectus.abuse.fuzz;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import lectus.abuse.fuzz.Dice.Names;
import lectus.abuse.fuzz.Fuzz.Seen;

/** Bodies of requests, both as clients send them and as they should not. */
final class JsonText {
  private static final List<String> NUMBERS =
      List.of(
          "0",
          "1",
          "-1",
          "1.0",
          "-0.0",
          "1e3",
          "1e400",
          "-1e400",
          "1e-400",
          "9007199254740993",
          "9223372036854775807",
          "9223372036854775808",
          "123456789012345678901234567890",
          "0.1e1",
          "1E+2",
          "1" + "0".repeat(400),
          "0." + "3".repeat(900));

  private static final List<String> NO_JSON =
      List.of(
          "",
          " ",
          "nul",
          "NaN",
          "Infinity",
          "01",
          "+1",
          "1.",
          ".5",
          "'a'",
          "{",
          "[",
          "{\"a\"",
          "{\"a\":1,}",
          "[1,]",
          "\"",
          "\"\\u12\"",
          "\"\\ud800\"",
          "\"\t\"",
          "{}{}",
          "\ufeff{}",
          "{\"a\":1,\"a\":2}",
          "// c\n{}",
          "{\"\":1}",
          "{\"_a\":1}",
          "\u0000");

  private static final List<String> PATTERNS =
      List.of(
          "^a",
          "doc.*",
          "(a|b)*c",
          "(a{99}){9}",
          "(a?){99}b",
          "[",
          "(",
          "a{1000}",
          "\\p{L}+",
          "((((a))))",
          "(?i)x",
          "(?=a)",
          "\\1",
          "",
          ".*.*.*x",
          "[^\\x00-\\x{10FFFF}]");

  private final Dice dice;
  private final Seen seen;

  JsonText(Dice dice, Seen seen) {
    this.dice = dice;
    this.seen = seen;
  }

  /** Returns the text's bytes, one time in six damaged. */
  byte[] bytes(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return dice.oneIn(6) ? Mutation.of(bytes, dice) : bytes;
  }

  /** Returns any JSON value. */
  String value(int depth) {
    return switch (dice.below(depth > 0 ? 12 : 8)) {
      case 0, 1 -> string(word());
      case 2, 3 -> dice.of(NUMBERS);
      case 4 -> dice.of("true", "false", "null");
      case 5 ->
          string(dice.of("", "ä€😀", "\uffff", "a\u0000b", "x".repeat(3_000), "_id", "\u2028"));
      case 6 -> dice.of("{}", "[]", "[[]]", "{\"a\":{}}");
      case 7 -> dice.oneIn(8) ? extreme() : "1";
      case 8, 9 -> object(dice.below(5), depth - 1);
      default -> array(dice.below(5), () -> value(depth - 1));
    };
  }

  /** Returns a value that breaks parsers. */
  private String extreme() {
    return switch (dice.below(7)) {
      case 0 -> "[".repeat(20_000);
      case 1 -> "{\"a\":".repeat(3_000);
      case 2 -> "[".repeat(400) + "]".repeat(400);
      case 3 -> "1".repeat(20_000);
      case 4 -> "\"" + "y".repeat(150_000) + "\"";
      case 5 -> array(3_000, () -> "[]");
      default -> dice.of(NO_JSON);
    };
  }

  private String word() {
    return dice.of("a", "b", "c", "x", "user", "name", "_id", "_rev", "doc1", "doc2");
  }

  static String string(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c < ' ' || c == '"' || c == '\\') {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    return out.append('"').toString();
  }

  private String object(int members, int depth) {
    List<String> all = new ArrayList<>();
    for (int i = 0; i < members; i++) {
      all.add(string(dice.oneIn(12) ? "_odd" : word() + i) + ":" + value(depth));
    }
    return object(all);
  }

  private static String object(List<String> members) {
    return "{" + String.join(",", members) + "}";
  }

  private String array(int elements, Supplier<String> element) {
    List<String> all = new ArrayList<>();
    for (int i = 0; i < elements; i++) {
      all.add(element.get());
    }
    return "[" + String.join(",", all) + "]";
  }

  /** Returns the right value, or once in a while any other. */
  private String or(String right) {
    return dice.oneIn(15) ? value(2) : right;
  }

  String revision() {
    return switch (dice.below(8)) {
      case 0 -> "1-" + "b".repeat(32);
      case 1 -> (1 + dice.below(4)) + "-" + String.format("%032x", dice.below(8));
      case 2 ->
          dice.of(
              "", "1", "1-", "0-a", "x-y", "-1-a", "99999999999999999999-a", "2-zz", "1-\u0000");
      default -> seen.revision(dice);
    };
  }

  String document(boolean named) {
    List<String> members = new ArrayList<>();
    if (named || dice.oneIn(10)) {
      members.add("\"_id\":" + or(string(Names.document(dice))));
    }
    if (dice.oneIn(3)) {
      members.add("\"_rev\":" + or(string(revision())));
    }
    if (dice.oneIn(8)) {
      members.add("\"_deleted\":" + or("true"));
    }
    if (dice.oneIn(10)) {
      members.add("\"_revisions\":" + or(revisions()));
    }
    if (dice.oneIn(30)) {
      members.add(
          "\"_attachments\":"
              + dice.of("{}", "{\"a\":{\"data\":\"eA==\"}}", "{\"a\":{\"stub\":true}}", "[]"));
    }
    for (int i = dice.below(5); i > 0; i--) {
      members.add(string(word() + i) + ":" + value(3));
    }
    return object(members);
  }

  private String revisions() {
    int start = 1 + dice.below(4);
    int known = dice.oneIn(5) ? dice.below(8) : start;
    return "{\"start\":"
        + or(Integer.toString(start))
        + ",\"ids\":"
        + or(array(known, () -> string(String.format("%032x", dice.below(8)))))
        + "}";
  }

  String designDocument() {
    String views = dice.of("{}", "{\"v\":{\"map\":\"function(d){}\"}}", "[]", "1");
    String more = dice.oneIn(40) ? ",\"validate_doc_update\":\"function(){}\"" : "";
    return "{\"views\":" + or(views) + ",\"language\":" + or("\"javascript\"") + more + "}";
  }

  String bulkDocs() {
    List<String> members = new ArrayList<>();
    members.add("\"docs\":" + or(array(dice.below(12), () -> or(document(true)))));
    if (dice.oneIn(4)) {
      members.add("\"new_edits\":" + or(dice.of("true", "false")));
    }
    if (dice.oneIn(6)) {
      members.add("\"atomic\":" + or(dice.of("true", "false")));
    }
    return or(object(members));
  }

  String bulkGet() {
    Supplier<String> which =
        () ->
            or(
                "{\"id\":"
                    + or(string(Names.document(dice)))
                    + (dice.oneIn(2) ? ",\"rev\":" + or(string(revision())) : "")
                    + (dice.oneIn(8) ? ",\"atts_since\":" + or("[]") : "")
                    + "}");
    return or("{\"docs\":" + or(array(dice.below(10), which)) + "}");
  }

  String revsDiff() {
    return or(
        object(
            new ArrayList<>(
                java.util.stream.Stream.generate(
                        () ->
                            string(Names.document(dice))
                                + ":"
                                + or(array(dice.below(4), () -> or(string(revision())))))
                    .limit(dice.below(6))
                    .toList())));
  }

  String keys() {
    return or(
        "{\"keys\":" + or(array(dice.below(20), () -> or(string(Names.document(dice))))) + "}");
  }

  String databaseKeys() {
    return or(
        "{\"keys\":" + or(array(dice.below(10), () -> or(string(Names.database(dice))))) + "}");
  }

  String documentIds() {
    return or("{\"doc_ids\":" + or(idList()) + "}");
  }

  String idList() {
    return array(dice.below(20), () -> or(string(Names.document(dice))));
  }

  String queries() {
    Supplier<String> one =
        () ->
            or(
                object(
                    List.of(
                        "\"limit\":" + or("3"),
                        "\"startkey\":" + value(1),
                        "\""
                            + dice.of(
                                "skip",
                                "descending",
                                "endkey",
                                "key",
                                "keys",
                                "include_docs",
                                "odd")
                            + "\":"
                            + value(1))));
    return or("{\"queries\":" + or(array(dice.below(4), one)) + "}");
  }

  String selectorBody() {
    String fields = dice.oneIn(4) ? ",\"fields\":" + or("[\"a\",\"b.c\"]") : "";
    return or("{\"selector\":" + selector(3) + fields + "}");
  }

  String selector(int depth) {
    if (depth > 0 && dice.oneIn(3)) {
      String combination = dice.of("$and", "$or", "$nor", "$not", "$odd");
      return "{\""
          + combination
          + "\":"
          + (combination.equals("$not")
              ? or(selector(depth - 1))
              : or(array(dice.below(4), () -> selector(depth - 1))))
          + "}";
    }
    String field =
        dice.of(
            "a1", "_id", "a.b", "", "a\\\\.b", "x." + "y.".repeat(dice.below(200)) + "z", "$eq");
    return "{" + string(field) + ":" + or(condition(depth)) + "}";
  }

  private String condition(int depth) {
    return switch (dice.below(10)) {
      case 0 -> "{\"$regex\":" + or(string(dice.of(PATTERNS))) + "}";
      case 1 ->
          "{\""
              + dice.of("$in", "$nin", "$all")
              + "\":"
              + or(array(dice.below(200), () -> value(0)))
              + "}";
      case 2 -> "{\"$mod\":" + or(dice.of("[2,0]", "[0,0]", "[1]", "[-1,5]")) + "}";
      case 3 -> "{\"$type\":" + or(dice.of("\"string\"", "\"odd\"")) + "}";
      case 4 -> "{\"$size\":" + value(0) + "}";
      case 5 ->
          "{\""
              + dice.of("$elemMatch", "$allMatch", "$keyMapMatch")
              + "\":"
              + selector(depth - 1)
              + "}";
      case 6 -> value(2);
      default ->
          "{\""
              + dice.of(
                  "$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$exists", "$odd", "$beginsWith")
              + "\":"
              + value(1)
              + "}";
    };
  }

  String security() {
    return or(
        "{\"admins\":{\"names\":"
            + or("[]")
            + ",\"roles\":"
            + or("[\"_admin\"]")
            + "},\"members\":"
            + or("{}")
            + "}");
  }

  /** Returns anything, fitting or not. */
  String anything() {
    return dice.oneIn(4) ? dice.of(NO_JSON) : dice.oneIn(10) ? extreme() : value(4);
  }

  /** Small damage to valid bytes. */
  static final class Mutation {
    private static final byte[][] BITS = {
      {0},
      {'\r', '\n'},
      {'\n'},
      {'"'},
      {'\\'},
      {(byte) 0xff, (byte) 0xfe},
      {(byte) 0xed, (byte) 0xa0, (byte) 0x80},
      {'{'},
      {'}'},
      {'['},
      {']'},
      {','},
      {':'},
      {'-'},
      {'%'},
      {'1', 'e', '9', '9', '9'},
      {' '},
      {'\t'},
      {0x1b, '[', '2', 'J'}
    };

    private Mutation() {}

    static byte[] of(byte[] bytes, Dice dice) {
      byte[] mutated = bytes;
      for (int times = 1 + dice.below(4); times > 0; times--) {
        mutated = once(mutated, dice);
      }
      return mutated;
    }

    private static byte[] once(byte[] bytes, Dice dice) {
      int at = dice.below(bytes.length + 1);
      int end = Math.min(bytes.length, at + dice.below(8));
      return switch (dice.below(6)) {
        case 0 -> joined(bytes, at, at, dice.of(BITS));
        case 1 -> joined(bytes, at, end, new byte[0]);
        case 2 -> joined(bytes, at, end, dice.of(BITS));
        case 3 -> joined(bytes, at, at, Arrays.copyOfRange(bytes, at, end));
        case 4 -> Arrays.copyOf(bytes, at);
        default -> flipped(bytes, at, dice);
      };
    }

    private static byte[] flipped(byte[] bytes, int at, Dice dice) {
      byte[] copy = bytes.clone();
      if (at < copy.length) {
        copy[at] ^= (byte) (1 << dice.below(8));
      }
      return copy;
    }

    /** Returns the bytes with those from {@code begin} to before {@code end} replaced. */
    private static byte[] joined(byte[] bytes, int begin, int end, byte[] between) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      out.write(bytes, 0, begin);
      out.writeBytes(between);
      out.write(bytes, end, bytes.length - end);
      return out.toByteArray();
    }
  }
}
