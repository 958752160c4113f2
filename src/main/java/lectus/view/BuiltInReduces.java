package lectus.view;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.BinaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;

/** CouchDB's reduce functions that have names. */
final class BuiltInReduces {
  private static final Pattern RANKED = Pattern.compile("_(top|bottom)_([0-9]{1,3})");
  private static final JsonNumber ZERO = new JsonNumber("0");

  private BuiltInReduces() {}

  /** Returns the function whose name a source begins with, as in CouchDB. */
  static Optional<Reducer> named(String source) {
    if (source.startsWith("_sum")) {
      return Optional.of(new Summed(false));
    }
    if (source.startsWith("_count")) {
      return Optional.of(new Summed(true));
    }
    if (source.startsWith("_stats")) {
      return Optional.of(new Described());
    }
    if (source.startsWith("_approx_count_distinct")) {
      return Optional.of(new DistinctKeys());
    }
    if (source.startsWith("_first") || source.startsWith("_last")) {
      return Optional.of(new OneRow(source.startsWith("_last")));
    }
    Matcher ranked = RANKED.matcher(source);
    return ranked.lookingAt()
        ? Optional.of(
            new RankedValues(ranked.group(1).equals("top"), Integer.parseInt(ranked.group(2))))
        : Optional.empty();
  }

  /** {@code _first} and {@code _last}: the value of that row. */
  private static final class OneRow extends Reducer {
    private final boolean isLast;

    OneRow(boolean last) {
      this.isLast = last;
    }

    private <T> T one(List<T> all) {
      return all.get(isLast ? all.size() - 1 : 0);
    }

    @Override
    List<byte[]> reduce(List<List<ReducedRow>> all) {
      return all.stream().map(rows -> value(one(rows).emitted().value())).toList();
    }

    @Override
    List<byte[]> rereduce(List<List<byte[]>> all) {
      return all.stream().map(this::one).toList();
    }
  }

  /** {@code _top_5} and {@code _bottom_5}: the highest values, or the lowest, each once. */
  private static final class RankedValues extends Reducer {
    private final Comparator<byte[]> order;
    private final int most;

    RankedValues(boolean top, int most) {
      Comparator<byte[]> lowest = Arrays::compareUnsigned;
      this.order = top ? lowest.reversed() : lowest;
      this.most = most;
    }

    @Override
    List<byte[]> reduce(List<List<ReducedRow>> all) {
      return all.stream()
          .map(rows -> ranked(rows.stream().map(it -> it.emitted().value()).map(JsonValue::parse)))
          .toList();
    }

    @Override
    List<byte[]> rereduce(List<List<byte[]>> all) {
      return all.stream()
          .map(
              some ->
                  ranked(
                      some.stream()
                          .map(it -> (JsonArray) JsonValue.parse(rest(it)))
                          .flatMap(it -> it.elements().stream())))
          .toList();
    }

    private byte[] ranked(Stream<JsonValue> values) {
      NavigableMap<byte[], JsonValue> first = new TreeMap<>(order);
      values.forEach(
          it -> {
            first.putIfAbsent(EmittedKey.of(it, false), it);
            if (first.size() > most) {
              first.pollLastEntry();
            }
          });
      return value(new JsonArray(List.copyOf(first.values())).toJson());
    }
  }

  /** Thrown when values are not what a function wants. */
  private static final class Unfit extends RuntimeException {
    private final byte[] reduction;

    Unfit(byte[] reduction) {
      super("", null, false, false);
      this.reduction = reduction;
    }
  }

  @FunctionalInterface
  private interface Start {
    JsonValue of(JsonValue value);
  }

  /** A function that joins values two by two. */
  private abstract static class Folded extends Reducer {
    private final BinaryOperator<JsonValue> join;
    private final Start start;

    Folded(BinaryOperator<JsonValue> join, Start start) {
      this.join = join;
      this.start = start;
    }

    @Override
    List<byte[]> reduce(List<List<ReducedRow>> all) {
      return all.stream()
          .map(rows -> rows.stream().map(row -> row.emitted().value()).toList())
          .map(this::started)
          .toList();
    }

    @Override
    List<byte[]> rereduce(List<List<byte[]>> all) {
      return all.stream().map(this::joined).toList();
    }

    byte[] started(List<byte[]> values) {
      return fold(values.stream().map(JsonValue::parse).toList(), start);
    }

    byte[] joined(List<byte[]> reductions) {
      List<JsonValue> values = reductions.stream().map(it -> JsonValue.parse(rest(it))).toList();
      Optional<JsonValue> error = values.stream().filter(Sums::isError).findFirst();
      return error.map(it -> value(it.toJson())).orElseGet(() -> fold(values, it -> it));
    }

    private byte[] fold(List<JsonValue> values, Start first) {
      try {
        JsonValue joined = first.of(values.get(0));
        for (JsonValue value : values.subList(1, values.size())) {
          joined = join.apply(joined, first.of(value));
        }
        return value(joined.toJson());
      } catch (Unfit unfit) {
        return unfit.reduction;
      }
    }
  }

  /** {@code _stats}. */
  private static final class Described extends Folded {
    Described() {
      super(Stats::join, Stats::of);
    }
  }

  /**
   * {@code _sum} and {@code _count}. Short integers, as most are, are summed up without a parser.
   */
  private static final class Summed extends Folded {
    private static final int MAX_DIGITS = 15;
    private static final long MAX_SUM = Long.MAX_VALUE / 2;

    private final boolean counts;

    Summed(boolean counts) {
      super(Sums::sum, Sums::first);
      this.counts = counts;
    }

    @Override
    byte[] started(List<byte[]> values) {
      if (counts) {
        return value(Integer.toString(values.size()));
      }
      OptionalLong sum = sum(values, 0);
      return sum.isPresent() ? value(Long.toString(sum.getAsLong())) : super.started(values);
    }

    @Override
    byte[] joined(List<byte[]> reductions) {
      OptionalLong sum = sum(reductions, 1);
      return sum.isPresent() ? value(Long.toString(sum.getAsLong())) : super.joined(reductions);
    }

    /** Returns empty if any is no integer, or there is one of more digits. */
    private static OptionalLong sum(List<byte[]> values, int from) {
      long sum = 0;
      for (byte[] value : values) {
        boolean isNegative = value[from] == '-';
        int begin = isNegative ? from + 1 : from;
        if (value.length - begin > MAX_DIGITS || Math.abs(sum) > MAX_SUM) {
          return OptionalLong.empty();
        }
        long number = 0;
        for (int i = begin; i < value.length; i++) {
          int digit = value[i] - '0';
          if (digit < 0 || digit > 9) {
            return OptionalLong.empty();
          }
          number = 10 * number + digit;
        }
        sum += isNegative ? -number : number;
      }
      return OptionalLong.of(sum);
    }
  }

  /** Sums of numbers, as exact as JSON's texts: integers of any size, and doubles. */
  private static final class Numbers {
    private static final int SHORT = 18;

    private Numbers() {}

    static JsonNumber sum(JsonNumber a, JsonNumber b) {
      if (isInteger(a) && isInteger(b)) {
        return a.text().length() <= SHORT && b.text().length() <= SHORT
            ? new JsonNumber(Long.toString(Long.parseLong(a.text()) + Long.parseLong(b.text())))
            : new JsonNumber(new BigInteger(a.text()).add(new BigInteger(b.text())).toString());
      }
      return of(asDouble(a) + asDouble(b));
    }

    static JsonNumber square(JsonNumber a) {
      if (isInteger(a)) {
        return new JsonNumber(new BigInteger(a.text()).pow(2).toString());
      }
      return of(asDouble(a) * asDouble(a));
    }

    static JsonNumber lower(JsonNumber a, JsonNumber b) {
      return asDouble(b) < asDouble(a) ? b : a;
    }

    static JsonNumber higher(JsonNumber a, JsonNumber b) {
      return asDouble(b) > asDouble(a) ? b : a;
    }

    private static double asDouble(JsonNumber number) {
      return Double.parseDouble(number.text());
    }

    private static JsonNumber of(double value) {
      if (Double.isNaN(value) || Double.isInfinite(value)) {
        throw new Unfit(Reducer.failed("badarith", "A sum is too large for a number."));
      }
      return new JsonNumber(new JsonBuffer(32).number(value).toString());
    }

    private static boolean isInteger(JsonNumber number) {
      return number.text().chars().noneMatch(c -> c == '.' || c == 'e' || c == 'E');
    }
  }

  /** {@code _sum}: numbers, arrays of numbers, and objects of all of these. */
  private static final class Sums {
    private static final String ERROR = "error";
    private static final String NAME = "builtin_reduce_error";
    private static final String REASON =
        "The _sum function requires that map values be numbers, arrays of numbers, or objects."
            + " Objects cannot be mixed with other data structures. Objects can be arbitrarily"
            + " nested, provided that the values for all fields are themselves numbers, arrays of"
            + " numbers, or objects.";

    private Sums() {}

    /** Refuses what cannot be summed up. */
    static JsonValue first(JsonValue value) {
      if (value instanceof JsonObject object) {
        Map<String, JsonValue> members = new TreeMap<>();
        object.members().forEach((name, member) -> members.put(name, first(member)));
        return new JsonObject(members);
      }
      return sum(ZERO, value);
    }

    static JsonValue sum(JsonValue a, JsonValue b) {
      if (a instanceof JsonNumber x && b instanceof JsonNumber y) {
        return Numbers.sum(x, y);
      }
      if (a instanceof JsonObject x && b instanceof JsonObject y) {
        return sumOfObjects(x, y);
      }
      if (isSummed(a) && isSummed(b)) {
        return sumOfArrays(asArray(a), asArray(b));
      }
      throw unfit(a instanceof JsonNumber || a instanceof JsonArray ? b : a);
    }

    private static boolean isSummed(JsonValue value) {
      return value instanceof JsonNumber || value instanceof JsonArray;
    }

    private static List<JsonValue> asArray(JsonValue value) {
      return value instanceof JsonArray array ? array.elements() : List.of(value);
    }

    private static JsonValue sumOfArrays(List<JsonValue> a, List<JsonValue> b) {
      List<JsonValue> sums = new ArrayList<>();
      for (int i = 0; i < Math.max(a.size(), b.size()); i++) {
        JsonNumber left = number(a, i);
        JsonNumber right = number(b, i);
        sums.add(Numbers.sum(left, right));
      }
      return new JsonArray(sums);
    }

    private static JsonNumber number(List<JsonValue> numbers, int index) {
      if (index >= numbers.size()) {
        return ZERO;
      }
      if (numbers.get(index) instanceof JsonNumber number) {
        return number;
      }
      throw unfit(numbers.get(index));
    }

    private static JsonValue sumOfObjects(JsonObject a, JsonObject b) {
      Map<String, JsonValue> sums = new TreeMap<>(a.members());
      b.members().forEach((name, value) -> sums.merge(name, value, Sums::sum));
      return new JsonObject(sums);
    }

    /** As in CouchDB, the value of the row is the error. */
    private static Unfit unfit(JsonValue value) {
      Map<String, JsonValue> error = new LinkedHashMap<>();
      error.put(ERROR, new JsonString(NAME));
      error.put("reason", new JsonString(REASON));
      error.put("caused_by", value);
      return new Unfit(Reducer.value(new JsonObject(error).toJson()));
    }

    static boolean isError(JsonValue value) {
      return value instanceof JsonObject object
          && object.get(ERROR).filter(new JsonString(NAME)::equals).isPresent();
    }
  }

  /** {@code _stats} of numbers, of arrays of numbers, and of what is such statistics already. */
  private static final class Stats {
    private static final String SUM = "sum";
    private static final String COUNT = "count";
    private static final String MIN = "min";
    private static final String MAX = "max";
    private static final String SQUARES = "sumsqr";
    private static final List<String> MEMBERS = List.of(SUM, COUNT, MIN, MAX, SQUARES);

    private Stats() {}

    static JsonValue of(JsonValue value) {
      if (value instanceof JsonNumber number) {
        return stats(number, new JsonNumber("1"), number, number, Numbers.square(number));
      }
      if (value instanceof JsonArray array) {
        return new JsonArray(array.elements().stream().map(Stats::ofElement).toList());
      }
      return checked(value);
    }

    private static JsonValue ofElement(JsonValue element) {
      return element instanceof JsonArray ? checked(element) : of(element);
    }

    private static JsonValue checked(JsonValue value) {
      if (value instanceof JsonObject object
          && MEMBERS.stream().allMatch(it -> object.members().get(it) instanceof JsonNumber)) {
        return stats(
            member(object, SUM),
            member(object, COUNT),
            member(object, MIN),
            member(object, MAX),
            member(object, SQUARES));
      }
      throw unfit(
          "The _stats function requires that map values be numbers or arrays of numbers,"
              + " not '"
              + value.toJson()
              + "'");
    }

    static JsonValue join(JsonValue a, JsonValue b) {
      if (a instanceof JsonObject x && b instanceof JsonObject y) {
        return stats(
            Numbers.sum(member(x, SUM), member(y, SUM)),
            Numbers.sum(member(x, COUNT), member(y, COUNT)),
            Numbers.lower(member(x, MIN), member(y, MIN)),
            Numbers.higher(member(x, MAX), member(y, MAX)),
            Numbers.sum(member(x, SQUARES), member(y, SQUARES)));
      }
      if (a instanceof JsonArray x
          && b instanceof JsonArray y
          && x.elements().size() == y.elements().size()) {
        List<JsonValue> joined = new ArrayList<>();
        for (int i = 0; i < x.elements().size(); i++) {
          joined.add(join(x.elements().get(i), y.elements().get(i)));
        }
        return new JsonArray(joined);
      }
      throw unfit("The _stats function requires that all values have the same form");
    }

    private static JsonNumber member(JsonObject stats, String name) {
      return (JsonNumber) stats.members().get(name);
    }

    private static JsonObject stats(
        JsonNumber sum, JsonNumber count, JsonNumber min, JsonNumber max, JsonNumber squares) {
      Map<String, JsonValue> stats = new LinkedHashMap<>();
      stats.put(SUM, sum);
      stats.put(COUNT, count);
      stats.put(MIN, min);
      stats.put(MAX, max);
      stats.put(SQUARES, squares);
      return new JsonObject(stats);
    }

    private static Unfit unfit(String reason) {
      return new Unfit(Reducer.failed("invalid_value", reason));
    }
  }

  /**
   * {@code _approx_count_distinct}: HyperLogLog of the keys with 2¹¹ registers, as in CouchDB, of
   * which few are listed and many are all there.
   *
   * <pre>
   * 0 ‖ (register, 2 bytes ‖ rank)…
   * 1 ‖ rank of each register
   * </pre>
   */
  private static final class DistinctKeys extends Reducer {
    private static final int BITS = 11;
    private static final int REGISTERS = 1 << BITS;
    private static final int FEW = 600;
    private static final int LISTED_BYTES = 3;
    private static final double ALPHA = 0.7213 / (1 + 1.079 / REGISTERS);
    private static final double FEW_KEYS = 2.5;
    private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;
    private static final long MIX = 0xBF58476D1CE4E5B9L;
    private static final int SHIFT = 29;
    private static final int LAST_SHIFT = 32;
    private static final int BYTE_MASK = 0xff;

    @Override
    List<byte[]> reduce(List<List<ReducedRow>> all) {
      return all.stream().map(DistinctKeys::ofRows).toList();
    }

    @Override
    List<byte[]> rereduce(List<List<byte[]>> all) {
      return all.stream().map(DistinctKeys::joined).toList();
    }

    private static byte[] ofRows(List<ReducedRow> rows) {
      byte[] ranks = new byte[REGISTERS];
      for (ReducedRow row : rows) {
        long hash = hash(row.emitted().key());
        int register = (int) (hash >>> (Long.SIZE - BITS));
        int rank = 1 + Math.min(Long.SIZE - BITS, Long.numberOfLeadingZeros(hash << BITS));
        ranks[register] = (byte) Math.max(ranks[register], rank);
      }
      return own(encode(ranks));
    }

    private static byte[] joined(List<byte[]> reductions) {
      byte[] ranks = new byte[REGISTERS];
      for (byte[] reduction : reductions) {
        byte[] other = decode(rest(reduction));
        for (int i = 0; i < REGISTERS; i++) {
          ranks[i] = (byte) Math.max(ranks[i], other[i]);
        }
      }
      return own(encode(ranks));
    }

    private static long hash(byte[] key) {
      long hash = MULTIPLIER;
      for (byte b : key) {
        hash = (hash ^ (b & BYTE_MASK)) * MULTIPLIER;
        hash ^= hash >>> SHIFT;
      }
      hash *= MIX;
      return hash ^ (hash >>> LAST_SHIFT);
    }

    private static byte[] encode(byte[] ranks) {
      int used = 0;
      for (byte rank : ranks) {
        used += rank == 0 ? 0 : 1;
      }
      if (used > FEW) {
        byte[] all = new byte[REGISTERS + 1];
        all[0] = 1;
        System.arraycopy(ranks, 0, all, 1, REGISTERS);
        return all;
      }
      byte[] listed = new byte[1 + LISTED_BYTES * used];
      int at = 1;
      for (int i = 0; i < REGISTERS; i++) {
        if (ranks[i] != 0) {
          listed[at++] = (byte) (i >> Byte.SIZE);
          listed[at++] = (byte) i;
          listed[at++] = ranks[i];
        }
      }
      return listed;
    }

    private static byte[] decode(byte[] encoded) {
      if (encoded[0] == 1) {
        return Arrays.copyOfRange(encoded, 1, encoded.length);
      }
      byte[] ranks = new byte[REGISTERS];
      for (int at = 1; at < encoded.length; at += LISTED_BYTES) {
        int register = (encoded[at] & BYTE_MASK) << Byte.SIZE | (encoded[at + 1] & BYTE_MASK);
        ranks[register] = encoded[at + 2];
      }
      return ranks;
    }

    @Override
    byte[] finish(byte[] own) {
      double sum = 0;
      int empty = 0;
      for (byte rank : decode(own)) {
        sum += Math.pow(2, -rank);
        empty += rank == 0 ? 1 : 0;
      }
      double estimate = ALPHA * REGISTERS * REGISTERS / sum;
      if (estimate <= FEW_KEYS * REGISTERS && empty > 0) {
        estimate = REGISTERS * Math.log((double) REGISTERS / empty);
      }
      return new JsonBuffer(20).number(Math.round(estimate)).toBytes();
    }
  }
}
