package lectus.json;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import lectus.error.LectusException;
import lectus.json.Leaf.LeafMarkers;
import lectus.json.StringParts.LeafRows;

/**
 * A document's body in memory: its values in the order in which they were sent, each name once.
 * Leaves, each with its whole path, could take thousands of times the size of the JSON; this takes
 * less than three times as much. The leaves, the JSON and the digest are made of it.
 *
 * <pre>
 * member     0x44 ‖ name ‖ 0x00 ‖ value
 * array      0x45 ‖ values ‖ 0x47
 * object     0x46 ‖ members ‖ 0x48
 * leaf       as in the store: one value in tuple encoding, or an empty container's marker
 * </pre>
 *
 * The outermost object has only its members. Each name is there once, as {@link Builder} has it.
 */
public final class ExplodedBody {
  private static final int NAME = 0x44;
  private static final int ARRAY = 0x45;
  private static final int OBJECT = 0x46;
  private static final int END_OF_ARRAY = 0x47;
  private static final int END_OF_OBJECT = 0x48;

  /** The second half of a tuple-encoded NUL; no value and no mark begins with it. */
  private static final byte ESCAPED_NUL = (byte) 0xff;

  private static final ExplodedBody EMPTY =
      new ExplodedBody(new byte[0], true, 2, Optional.empty());

  private final byte[] bytes;
  private final boolean isInOrder;
  private final int jsonBytes;
  private final LeafCount leaves;
  private volatile byte[] digest;

  /**
   * @param counted while they were read; empty: they are counted here
   */
  private ExplodedBody(
      byte[] bytes, boolean isInOrder, int jsonBytes, Optional<LeafCount> counted) {
    this.bytes = bytes;
    this.isInOrder = isInOrder;
    this.jsonBytes = jsonBytes;
    this.leaves = counted.orElseGet(LeafCount::new);
    if (counted.isEmpty()) {
      forEachLeaf(
          ChosenPaths.ALL,
          (path, pathEnd, values, value, valueEnd) -> leaves.add(pathEnd, values, value, valueEnd));
    }
  }

  /** What leaves take in the store. */
  private static final class LeafCount {
    private int rows;
    private long storedBytes;
    private long packedBytes;
    private int longestKey;

    /** Adds a leaf whose path has so many bytes. */
    void add(int pathBytes, byte[] values, int value, int valueEnd) {
      int length = valueEnd - value;
      packedBytes += PackedLeaves.size(pathBytes, length);
      if (StringParts.areNeeded(length)) {
        StringParts.Size size = StringParts.size(pathBytes, values, value, valueEnd);
        rows += size.rows();
        storedBytes += size.bytes();
        longestKey = Math.max(longestKey, pathBytes + StringParts.MAX_KEY_BYTES);
      } else {
        rows++;
        storedBytes += pathBytes + length;
        longestKey = Math.max(longestKey, pathBytes);
      }
    }
  }

  /** Returns the body {@code {}}. */
  public static ExplodedBody empty() {
    return EMPTY;
  }

  /**
   * Returns the body whose leaves stand in one value, in the order in which they were sent.
   *
   * @param packed {@link PackedLeaves}
   * @param jsonBytes its external size
   * @throws lectus.json.MalformedTupleException if they cannot be read
   */
  public static ExplodedBody ofPacked(byte[] packed, int jsonBytes) {
    return new Unpacking().body(packed, jsonBytes);
  }

  public boolean isEmpty() {
    return leaves.rows == 0;
  }

  /** Whether the members of all objects were sent in the order of their names. */
  boolean isInOrder() {
    return isInOrder;
  }

  /** Returns the external size: bytes of the body as JSON, with braces. */
  public int jsonBytes() {
    return jsonBytes;
  }

  /** Returns the number of key-values for the leaves. */
  public int rows() {
    return leaves.rows;
  }

  /** Returns the bytes of all key-values' paths and values, without the revision's key in each. */
  public long storedBytes() {
    return leaves.storedBytes;
  }

  /** Returns the bytes of all leaves in one value ({@link PackedLeaves}). */
  public long packedBytes() {
    return leaves.packedBytes;
  }

  /** Returns the memory of the values, in bytes. */
  public long memoryBytes() {
    return bytes.length;
  }

  /** Receives leaves. The arrays are shared and must not be kept. */
  interface Leaves {
    /**
     * @param path in the first {@code pathEnd} bytes
     * @param values has the leaf's value from {@code value} to {@code valueEnd}
     */
    void leaf(byte[] path, int pathEnd, byte[] values, int value, int valueEnd);
  }

  /** Passes on some leaves in the order in which they were sent. */
  void forEachLeaf(JsonExploder.Choice choice, Leaves to) {
    forEach(new Paths(choice, to));
  }

  /** Returns all leaves in ascending order of their paths. */
  public List<Leaf> leaves() {
    return isInOrder ? sent() : sent().stream().sorted(Leaf.BY_PATH).toList();
  }

  /**
   * Returns all leaves in the order in which they were sent; of members of the same name the last
   * one counts, at its place.
   */
  List<Leaf> sent() {
    List<Leaf> all = new ArrayList<>(leaves.rows);
    forEachLeaf(
        ChosenPaths.ALL,
        (path, pathEnd, values, value, valueEnd) ->
            all.add(
                new Leaf(
                    Arrays.copyOf(path, pathEnd), Arrays.copyOfRange(values, value, valueEnd))));
    return all;
  }

  /** Whether the body has such leaves. */
  public boolean has(JsonExploder.Choice choice) {
    boolean[] has = {false};
    forEachLeaf(choice, (path, pathEnd, values, value, valueEnd) -> has[0] = true);
    return has[0];
  }

  /** Passes on the key-values for the leaves, in ascending order of their paths. */
  public void forEachRow(LeafRows to) {
    for (Leaf leaf : leaves()) {
      if (StringParts.areNeeded(leaf.value().length)) {
        StringParts.write(leaf, to);
      } else {
        to.row(leaf.path(), leaf.value());
      }
    }
  }

  /**
   * Repeats the checks of the size and of the leaves' keys, once all that precedes their paths is
   * known.
   *
   * @param limits with the actual key overhead
   * @throws LectusException 413 {@code document_too_large}, like {@link JsonExploder}
   */
  public void requireFit(JsonLimits limits) {
    if (jsonBytes > limits.documentBytes()) {
      throw TooLarge.document(jsonBytes, limits.documentBytes());
    }
    if (leaves.longestKey > limits.longestKey()) {
      forEachLeaf(
          ChosenPaths.ALL,
          (path, pathEnd, values, value, valueEnd) ->
              limits.checkPath(path, pathEnd, valueEnd - value));
    }
  }

  /** Writes the members as JSON in the order in which they were sent, without the braces. */
  public void appendTo(JsonBuffer out) {
    forEach(new Text(out));
  }

  /**
   * Returns the MD5 of the members in the order of their names, so that equal bodies have equal
   * digests, whatever the order of their members. Each member and value has the bytes that it has
   * here, but in place of the members of an object within it stands their MD5. So each name counts
   * once, and the work is proportional to the body. It is made when it is first asked for.
   */
  public byte[] digest() {
    byte[] made = digest;
    if (made == null) {
      Digest of = new Digest();
      forEach(of);
      made = of.ofMembers();
      digest = made;
    }
    return made.clone();
  }

  /** Receives the parts of a body in the order in which they were sent. */
  private interface Parts {
    /** A member's name with its first byte and its last. */
    void name(int from, int to);

    void leaf(int from, int to);

    void begin(boolean array);

    void end(boolean array);
  }

  private void forEach(Parts to) {
    int at = 0;
    while (at < bytes.length) {
      int from = at;
      int code = bytes[from];
      at++;
      if (code == ARRAY || code == OBJECT) {
        to.begin(code == ARRAY);
      } else if (code == END_OF_ARRAY || code == END_OF_OBJECT) {
        to.end(code == END_OF_ARRAY);
      } else if (code == NAME) {
        at = textEnd(at);
        to.name(from, at);
      } else {
        at = leafEnd(from, code);
        to.leaf(from, at);
      }
    }
  }

  private int leafEnd(int from, int code) {
    return switch (code) {
      case TupleType.STRING -> textEnd(from + 1);
      case TupleType.DOUBLE -> from + 1 + Double.BYTES;
      case TupleType.NIL,
          TupleType.FALSE,
          TupleType.TRUE,
          LeafMarkers.EMPTY_ARRAY,
          LeafMarkers.EMPTY_OBJECT ->
          from + 1;
      case TupleType.POSITIVE_BIG_INTEGER -> from + 2 + (bytes[from + 1] & 0xff);
      case TupleType.NEGATIVE_BIG_INTEGER -> from + 2 + (~bytes[from + 1] & 0xff);
      default -> from + 1 + Math.abs(code - TupleType.INTEGER_ZERO);
    };
  }

  private int textEnd(int from) {
    int at = JsonBuffer.plainEnd(bytes, from, bytes.length);
    while (bytes[at] != 0 || (at + 1 < bytes.length && bytes[at + 1] == ESCAPED_NUL)) {
      at = JsonBuffer.plainEnd(bytes, bytes[at] == 0 ? at + 2 : at + 1, bytes.length);
    }
    return at + 1;
  }

  /** Makes the paths of the leaves. */
  private final class Paths implements Parts {
    private static final int OF_MEMBERS = -1;

    private final JsonExploder.Choice choice;
    private final Leaves to;
    private final TupleWriter path = new TupleWriter(128);

    /** For each open container the length of its path, and its next position if it is an array. */
    private int[] open = {0, OF_MEMBERS, 0, 0, 0, 0, 0, 0};

    private int depth;

    /** Number of open containers from the one on of which no leaf is wanted. */
    private int unwanted;

    Paths(JsonExploder.Choice choice, Leaves to) {
      this.choice = choice;
      this.to = to;
    }

    @Override
    public void name(int from, int end) {
      if (unwanted == 0) {
        path.truncate(open[depth]).octet(TupleType.STRING).raw(bytes, from + 1, end - from - 1);
      }
    }

    @Override
    public void leaf(int from, int end) {
      if (unwanted > 0) {
        return;
      }
      toElement();
      if (leads() && (choice == ChosenPaths.ALL || choice.keeps(path.array(), path.length()))) {
        to.leaf(path.array(), path.length(), bytes, from, end);
      }
    }

    @Override
    public void begin(boolean array) {
      if (unwanted == 0) {
        toElement();
      }
      if (unwanted > 0 || !leads()) {
        unwanted++;
        return;
      }
      depth += 2;
      if (depth == open.length) {
        open = Arrays.copyOf(open, 2 * depth);
      }
      open[depth] = path.length();
      open[depth + 1] = array ? 0 : OF_MEMBERS;
    }

    @Override
    public void end(boolean array) {
      if (unwanted > 0) {
        unwanted--;
      } else {
        depth -= 2;
      }
    }

    private void toElement() {
      if (open[depth + 1] != OF_MEMBERS) {
        path.truncate(open[depth]).integer(open[depth + 1]++);
      }
    }

    private boolean leads() {
      return choice == ChosenPaths.ALL || choice.leadsTo(path.array(), path.length());
    }
  }

  /** Builds a body from paths: the containers that a path shares with the one before stay open. */
  private static final class Unpacking implements PackedLeaves.Sink {
    private final Builder body = new Builder();
    private int previous;
    private int previousEnd;

    /** For each open container below the root: where its path ends, and whether it is an array. */
    private int[] ends = new int[8];

    private boolean[] arrays = new boolean[8];
    private int open;

    ExplodedBody body(byte[] packed, int jsonBytes) {
      PackedLeaves.read(packed, 0, this);
      closeTo(0);
      body.closeObject();
      return body.uncounted(jsonBytes);
    }

    @Override
    public void leaf(byte[] packed, int path, int pathEnd, int value, int valueEnd) {
      int shared = Arrays.mismatch(packed, previous, previousEnd, packed, path, pathEnd);
      int kept = open;
      while (kept > 0 && !isShared(ends[kept - 1], shared, packed, path)) {
        kept--;
      }
      closeTo(kept);
      int at = element(packed, open == 0 ? path : path + ends[open - 1], pathEnd);
      while (at < pathEnd) {
        open(at - path, packed[at] != TupleType.STRING);
        at = element(packed, at, pathEnd);
      }
      body.leaf(packed, value, valueEnd);
      previous = path;
      previousEnd = pathEnd;
    }

    /** A NUL that belongs to a name ends no element. */
    private static boolean isShared(int end, int shared, byte[] packed, int path) {
      return end <= shared && packed[path + end] != ESCAPED_NUL;
    }

    private void closeTo(int depth) {
      while (open > depth) {
        open--;
        body.end(arrays[open]);
      }
    }

    private void open(int end, boolean isArray) {
      if (open == ends.length) {
        ends = Arrays.copyOf(ends, 2 * open);
        arrays = Arrays.copyOf(arrays, 2 * open);
      }
      ends[open] = end;
      arrays[open] = isArray;
      open++;
      body.begin(isArray);
    }

    /** Begins a member; returns where the element of the path ends. */
    private int element(byte[] packed, int at, int pathEnd) {
      int end = at + 1 + packed[at] - TupleType.INTEGER_ZERO;
      if (packed[at] == TupleType.STRING) {
        end = at + 1;
        while (end < pathEnd
            && (packed[end] != 0 || (end + 1 < pathEnd && packed[end + 1] == ESCAPED_NUL))) {
          end += packed[end] == 0 ? 2 : 1;
        }
        end++;
      }
      if (end <= at || end > pathEnd) {
        throw new MalformedTupleException("No element of a path at " + at);
      }
      if (packed[at] == TupleType.STRING) {
        body.name(packed, at, end, 0);
      }
      return end;
    }
  }

  private final class Text implements Parts {
    private final JsonBuffer out;
    private boolean needsComma;

    Text(JsonBuffer out) {
      this.out = out;
    }

    @Override
    public void name(int from, int to) {
      separate();
      out.tupleString(bytes, from + 1, to);
      out.octet(':');
    }

    @Override
    public void leaf(int from, int to) {
      separate();
      JsonAssembler.LeafText.append(bytes, from, to, out);
      needsComma = true;
    }

    @Override
    public void begin(boolean array) {
      separate();
      out.octet(array ? '[' : '{');
    }

    @Override
    public void end(boolean array) {
      out.octet(array ? ']' : '}');
      needsComma = true;
    }

    private void separate() {
      if (needsComma) {
        out.octet(',');
      }
      needsComma = false;
    }
  }

  private final class Digest implements Parts {
    private final MessageDigest md5 = md5();

    /** The members of the open objects; objects within them have become their digests. */
    private final TupleWriter open = new TupleWriter(512);

    private final Members members = new Members();

    Digest() {
      members.open();
    }

    @Override
    public void name(int from, int to) {
      members.add(open.length(), to - from, 0);
      open.raw(bytes, from, to - from);
    }

    @Override
    public void leaf(int from, int to) {
      open.raw(bytes, from, to - from);
    }

    @Override
    public void begin(boolean array) {
      if (array) {
        open.octet(ARRAY);
      } else {
        members.open();
      }
    }

    @Override
    public void end(boolean array) {
      if (array) {
        open.octet(END_OF_ARRAY);
      } else {
        byte[] ofObject = ofMembers();
        open.octet(OBJECT).raw(ofObject);
      }
    }

    /** Closes the innermost object. */
    byte[] ofMembers() {
      byte[] all = open.array();
      int start = members.start(open.length());
      if (members.areInOrder(all)) {
        md5.update(all, start, open.length() - start);
      } else {
        for (int number : members.sorted(all)) {
          int from = members.from(number);
          md5.update(all, from, members.end(number, open.length()) - from);
        }
      }
      open.truncate(start);
      members.close();
      return md5.digest();
    }

    private static MessageDigest md5() {
      try {
        return MessageDigest.getInstance("MD5");
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException("Every Java platform has MD5", e);
      }
    }
  }

  /** The members of the open objects. */
  private static final class Members {
    private static final int FIELDS = 3;

    /** For each member where it begins, the length of its name, and a number of the caller's. */
    private int[] all = new int[16 * FIELDS];

    private int count;

    /** The first members of the open objects. */
    private int[] firsts = new int[8];

    private int depth;

    void open() {
      if (depth == firsts.length) {
        firsts = Arrays.copyOf(firsts, 2 * depth);
      }
      firsts[depth++] = count;
    }

    void close() {
      count = firsts[--depth];
    }

    void add(int from, int nameBytes, int other) {
      if (count * FIELDS == all.length) {
        all = Arrays.copyOf(all, 2 * all.length);
      }
      all[count * FIELDS] = from;
      all[count * FIELDS + 1] = nameBytes;
      all[count * FIELDS + 2] = other;
      count++;
    }

    int from(int number) {
      return all[number * FIELDS];
    }

    int other(int number) {
      return all[number * FIELDS + 2];
    }

    /** Returns where a member of the innermost object ends, which itself ends at {@code end}. */
    int end(int number, int end) {
      return number + 1 < count ? from(number + 1) : end;
    }

    /** Returns where the innermost object begins, which ends at {@code end}. */
    int start(int end) {
      return firsts[depth - 1] < count ? from(firsts[depth - 1]) : end;
    }

    /** Whether the members of the innermost object are in the order of their names. */
    boolean areInOrder(byte[] bytes) {
      for (int number = firsts[depth - 1] + 1; number < count; number++) {
        if (compare(bytes, number - 1, number) >= 0) {
          return false;
        }
      }
      return true;
    }

    /**
     * Returns the numbers of the innermost object's members in the order of their names; those of
     * the same name stay in their order.
     */
    int[] sorted(byte[] bytes) {
      int first = firsts[depth - 1];
      long[] numbers = new long[count - first];
      Arrays.setAll(numbers, i -> first + i);
      sort(bytes, numbers, 0, numbers.length, 0);
      int[] sorted = new int[numbers.length];
      Arrays.setAll(sorted, i -> (int) numbers[i]);
      return sorted;
    }

    /**
     * Sorts members whose names are the same in their first {@code common} bytes, by the next four
     * bytes and then by their numbers, and goes on with those that are the same in these, too. So
     * an object of many members is sorted without looking into their names again and again.
     */
    private void sort(byte[] bytes, long[] numbers, int from, int to, int common) {
      int next = common;
      boolean areSame = true;
      while (areSame && next < nameBytes((int) numbers[from])) {
        for (int i = from; i < to; i++) {
          numbers[i] = part(bytes, (int) numbers[i], next) << Integer.SIZE | (int) numbers[i];
          areSame &= isSame(numbers[from], numbers[i]);
        }
        next += Integer.BYTES;
      }
      Arrays.sort(numbers, from, to);
      for (int i = from, end = from; !areSame && i < to; i = end) {
        while (end < to && isSame(numbers[i], numbers[end])) {
          end++;
        }
        if (end - i > 1) {
          sort(bytes, numbers, i, end, next);
        }
      }
    }

    private static boolean isSame(long one, long other) {
      return one >>> Integer.SIZE == other >>> Integer.SIZE;
    }

    /** Returns four bytes of a name, zeros behind its end, in the order of signed numbers. */
    private long part(byte[] bytes, int number, int at) {
      int part = 0;
      for (int i = at; i < at + Integer.BYTES; i++) {
        part = part << Byte.SIZE | (i < nameBytes(number) ? bytes[from(number) + i] & 0xff : 0);
      }
      return part ^ Integer.MIN_VALUE;
    }

    private int nameBytes(int number) {
      return all[number * FIELDS + 1];
    }

    int compare(byte[] bytes, int a, int b) {
      return Arrays.compareUnsigned(
          bytes, from(a), from(a) + nameBytes(a), bytes, from(b), from(b) + nameBytes(b));
    }
  }

  /**
   * Builds a body while it is read. Of members of the same name the last one stays; the others are
   * taken out at the end.
   */
  static final class Builder {
    private final TupleWriter bytes = new TupleWriter(512);
    private final Members members = new Members();
    private final List<Replaced> replaced = new ArrayList<>(0);
    private final LeafCount leaves = new LeafCount();
    private boolean isInOrder = true;

    /** Where a member is that a later one replaces. */
    private record Replaced(int from, int to) {}

    Builder() {
      members.open();
    }

    /**
     * Begins a member.
     *
     * @param path has its name in tuple encoding
     * @param jsonBytes size of the document before it
     */
    void name(byte[] path, int from, int to, long jsonBytes) {
      members.add(bytes.length(), to - from, (int) jsonBytes);
      bytes.octet(NAME).raw(path, from + 1, to - from - 1);
    }

    /** Adds a leaf whose path has so many bytes. */
    void leaf(int pathBytes, byte[] value, int length) {
      bytes.raw(value, 0, length);
      leaves.add(pathBytes, value, 0, length);
    }

    /** Adds a leaf that is not counted. */
    void leaf(byte[] values, int from, int to) {
      bytes.raw(values, from, to - from);
    }

    void begin(boolean array) {
      bytes.octet(array ? ARRAY : OBJECT);
      if (!array) {
        members.open();
      }
    }

    /** Takes back a container that has turned out to be empty. */
    void cancel(boolean array) {
      bytes.truncate(bytes.length() - 1);
      if (!array) {
        members.close();
      }
    }

    /**
     * Ends a container.
     *
     * @return how much of the document's size the replaced members were
     */
    long end(boolean array) {
      long replacedBytes = array ? 0 : closeObject();
      bytes.octet(array ? END_OF_ARRAY : END_OF_OBJECT);
      return replacedBytes;
    }

    /** Ends the innermost object, as above. */
    long closeObject() {
      long replacedBytes = 0;
      if (!members.areInOrder(bytes.array())) {
        isInOrder = false;
        int[] sorted = members.sorted(bytes.array());
        for (int i = 1; i < sorted.length; i++) {
          int number = sorted[i - 1];
          if (members.compare(bytes.array(), number, sorted[i]) == 0) {
            replaced.add(new Replaced(members.from(number), members.from(number + 1)));
            replacedBytes += members.other(number + 1) - members.other(number);
          }
        }
      }
      members.close();
      return replacedBytes;
    }

    /**
     * @param jsonBytes size of the document
     */
    ExplodedBody finish(int jsonBytes) {
      return replaced.isEmpty()
          ? new ExplodedBody(bytes.toBytes(), isInOrder, jsonBytes, Optional.of(leaves))
          : uncounted(jsonBytes);
    }

    /** Returns the body, of which not all leaves that are there were counted, or others too. */
    ExplodedBody uncounted(int jsonBytes) {
      return new ExplodedBody(kept(), isInOrder, jsonBytes, Optional.empty());
    }

    /** Returns what no member replaces. What is replaced may lie in what is. */
    private byte[] kept() {
      replaced.sort(Comparator.comparingInt(Replaced::from));
      TupleWriter kept = new TupleWriter(bytes.length());
      int at = 0;
      for (Replaced member : replaced) {
        if (member.from >= at) {
          kept.raw(bytes.array(), at, member.from - at);
          at = member.to;
        }
      }
      return kept.raw(bytes.array(), at, bytes.length() - at).toBytes();
    }
  }
}
