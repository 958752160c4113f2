package lectus.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What was exploded is reassembled unchanged, RFC 004. */
class JsonRoundTripTest {
  @Property
  void any_object_comes_back(@ForAll("objects") Map<String, Object> object, @ForAll Random random) {
    ExplodedBody body = Bodies.explode(JsonModel.write(object, random));
    assertThat(JsonModel.read(Bodies.assemble(body.leaves()).toBytes()))
        .isEqualTo(JsonModel.kept(object));
  }

  @Property
  void leaves_are_in_ascending_order_and_the_sizes_are_exact(
      @ForAll("objects") Map<String, Object> object, @ForAll Random random) {
    ExplodedBody body = Bodies.explode(JsonModel.write(object, random));
    List<Leaf> leaves = body.leaves();
    for (int i = 1; i < leaves.size(); i++) {
      assertThat(Arrays.compareUnsigned(leaves.get(i - 1).path(), leaves.get(i).path()))
          .isNegative();
    }
    assertThat(body.jsonBytes()).isEqualTo(Bodies.assemble(leaves).length());
    assertThat(body.storedBytes())
        .isEqualTo(leaves.stream().mapToLong(it -> it.path().length + it.value().length).sum());
    assertThat(body.isEmpty()).isEqualTo(object.isEmpty());
  }

  @Property
  void the_order_of_members_does_not_matter(
      @ForAll("objects") Map<String, Object> object, @ForAll Random random) {
    Map<String, Object> shuffled = shuffled(object, random);
    ExplodedBody body = Bodies.explode(JsonModel.write(object, random));
    ExplodedBody other = Bodies.explode(JsonModel.write(shuffled, random));
    assertThat(other.leaves()).usingRecursiveComparison().isEqualTo(body.leaves());
    assertThat(other.jsonBytes()).isEqualTo(body.jsonBytes());
    assertThat(other.storedBytes()).isEqualTo(body.storedBytes());
    assertThat(other.digest()).isEqualTo(body.digest());
  }

  @Property
  void members_come_back_in_the_order_in_which_they_were_sent(
      @ForAll("objects") Map<String, Object> object, @ForAll Random random) {
    String json = JsonModel.write(shuffled(object, random), random);
    ExplodedBody body = Bodies.explode(json);
    byte[] sent = Bodies.assemble(body.sent()).toBytes();
    assertThat(names(JsonValue.parse(sent)))
        .isEqualTo(names(JsonValue.parse(json.getBytes(StandardCharsets.UTF_8))));
    byte[] order = LeafOrder.of(body);
    List<Leaf> leaves = body.leaves();
    List<Leaf> ordered = new ArrayList<>();
    for (int number : order.length == 0 ? new int[0] : LeafOrder.read(order, 0, leaves.size())) {
      ordered.add(leaves.get(number));
    }
    assertThat(order.length == 0 ? leaves : ordered)
        .usingRecursiveComparison()
        .isEqualTo(body.sent());
  }

  @Property(tries = 1000)
  void a_body_is_the_same_when_it_is_made_of_its_leaves_in_one_value(
      @ForAll("objects") Map<String, Object> object, @ForAll Random random) {
    ExplodedBody body = Bodies.explode(JsonModel.write(shuffled(object, random), random));
    TupleWriter packed = new TupleWriter(64);
    PackedLeaves.write(body, packed);

    assertThat(ExplodedBody.ofPacked(packed.toBytes(), body.jsonBytes()))
        .usingRecursiveComparison()
        .isEqualTo(body);
  }

  private static Object names(JsonValue value) {
    if (value instanceof JsonValue.JsonObject object) {
      List<Object> names = new ArrayList<>();
      object.members().forEach((name, member) -> names.add(List.of(name, names(member))));
      return names;
    }
    return value instanceof JsonValue.JsonArray array
        ? array.elements().stream().map(JsonRoundTripTest::names).toList()
        : "";
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "{\"b\":1,\"a\":2,\"b\":3}|{\"a\":2,\"b\":3}",
        "{\"o\":{\"x\":1,\"y\":2,\"x\":{\"z\":[]}},\"a\":0}|{\"o\":{\"y\":2,\"x\":{\"z\":[]}},\"a\":0}",
        "{\"l\":[{\"b\":1,\"a\":2},{}],\"k\":[],\"l\":[{\"d\":1,\"c\":2}]}|{\"k\":[],\"l\":[{\"d\":1,\"c\":2}]}"
      })
  void of_duplicate_members_the_last_one_comes_back_at_its_place(String json, String kept) {
    assertThat(Bodies.assemble(Bodies.explode(json).sent()).toString()).isEqualTo(kept);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "1400", "140114011501", "14021501", "150114021400"})
  void what_is_no_order_of_three_leaves_is_refused(String hex) {
    byte[] order = HexFormat.of().parseHex(hex);
    assertThatThrownBy(() -> LeafOrder.read(order, 0, 3))
        .isInstanceOf(MalformedTupleException.class);
  }

  @Property
  void paths_are_what_foundationdbs_tuple_layer_packs(
      @ForAll("objects") Map<String, Object> object) {
    List<byte[]> expected = new ArrayList<>();
    object.forEach((name, value) -> collect(List.of(name), value, expected));
    expected.sort(ByteArrayUtil::compareUnsigned);
    ExplodedBody body = Bodies.explode(JsonModel.write(object, new Random(1)));
    assertThat(body.leaves().stream().map(Leaf::path)).containsExactlyElementsOf(expected);
  }

  /** A plain version of it, from a tree. */
  @Property
  void the_digest_is_that_of_members_in_the_order_of_their_names(
      @ForAll("objects") Map<String, Object> object, @ForAll Random random) {
    ExplodedBody body = Bodies.explode(JsonModel.write(shuffled(object, random), random));
    JsonBuffer json = new JsonBuffer(16).octet('{');
    body.appendTo(json);
    assertThat(HexFormat.of().formatHex(body.digest()))
        .isEqualTo(HexFormat.of().formatHex(digest(JsonValue.parse(json.octet('}').toBytes()))));
  }

  private static byte[] digest(JsonValue object) {
    TupleWriter all = new TupleWriter(64);
    ((JsonValue.JsonObject) object)
        .members().entrySet().stream()
            .map(it -> new TupleWriter(16).string(it.getKey()).toBytes())
            .sorted(Arrays::compareUnsigned)
            .forEach(
                name -> {
                  String text = new TupleReader(name, 0).string();
                  all.octet(0x44).raw(name, 1, name.length - 1);
                  write(((JsonValue.JsonObject) object).members().get(text), all);
                });
    try {
      return MessageDigest.getInstance("MD5").digest(all.toBytes());
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }

  private static void write(JsonValue value, TupleWriter to) {
    if (value instanceof JsonValue.JsonObject object && !object.members().isEmpty()) {
      to.octet(0x46).raw(digest(object));
    } else if (value instanceof JsonValue.JsonArray array && !array.elements().isEmpty()) {
      to.octet(0x45);
      array.elements().forEach(element -> write(element, to));
      to.octet(0x47);
    } else {
      JsonBuffer json = new JsonBuffer(16).ascii("{\"v\":");
      value.writeTo(json);
      to.raw(Bodies.explode(json.octet('}').toString()).leaves().get(0).value());
    }
  }

  @Test
  void bodies_that_differ_in_where_values_are_digest_differently() {
    List<String> digests =
        Stream.of(
                "{}",
                "{\"a\":1,\"b\":2}",
                "{\"a\":2,\"b\":1}",
                "{\"a\":[1,[2]]}",
                "{\"a\":[[1],2]}",
                "{\"a\":[[1,2]]}",
                "{\"a\":[1,2]}",
                "{\"a\":[1,2,[]]}",
                "{\"a\":{\"b\":2},\"c\":3}",
                "{\"a\":{\"b\":2,\"c\":3}}",
                "{\"a\":[{\"b\":2,\"c\":3}]}",
                "{\"a\":[{\"b\":2},{\"c\":3}]}",
                "{\"a\":[\"b\",2]}",
                "{\"a\":[\"b\",2.0]}",
                "{\"a\":[null]}",
                "{\"a\":[{}]}")
            .map(json -> HexFormat.of().formatHex(Bodies.explode(json).digest()))
            .toList();
    assertThat(digests).doesNotHaveDuplicates();
  }

  /**
   * Every object's members in the reverse of their order, in each of which another replaces one.
   */
  @Test
  void deep_objects_with_replaced_members_in_any_order_are_read_in_one_pass() {
    int depth = 2_000;
    String json =
        "{\"b\":0,\"b\":1,\"a\":".repeat(depth)
            + "\""
            + "x".repeat(4_000_000)
            + "\""
            + "}".repeat(depth);
    ExplodedBody body = Bodies.explode(json);
    JsonBuffer text = new JsonBuffer(64).octet('{');
    body.appendTo(text);
    assertThat(text.octet('}').toString().equals(json.replace("\"b\":0,", ""))).isTrue();
    assertThat(body.jsonBytes()).isEqualTo(text.length());
    assertThat(body.rows()).isEqualTo(depth + 41);
    String sorted =
        "{\"a\":".repeat(depth) + "\"" + "x".repeat(4_000_000) + "\"" + ",\"b\":1}".repeat(depth);
    assertThat(Bodies.explode(sorted).digest()).isEqualTo(body.digest());
  }

  @Test
  void an_object_of_many_members_in_any_order_keeps_the_last_of_each_name() {
    Random random = new Random(7);
    StringBuilder json = new StringBuilder("{\"o\":{\"a\":0");
    Map<String, Integer> last = new LinkedHashMap<>(Map.of("a", 0));
    for (int i = 1_000; i > 0; i--) {
      json.append(",\"").append("é".repeat(i)).append("\":").append(i);
      last.put("é".repeat(i), i);
    }
    for (int i = 0; i < 200_000; i++) {
      String name = Integer.toString(random.nextInt(150_000), 36);
      json.append(",\"").append(name).append("\":").append(i);
      last.remove(name);
      last.put(name, i);
    }
    ExplodedBody body = Bodies.explode(json.append("}}").toString());
    JsonBuffer text = new JsonBuffer(64).octet('{');
    body.appendTo(text);
    String kept =
        last.entrySet().stream()
            .map(it -> "\"" + it.getKey() + "\":" + it.getValue())
            .collect(Collectors.joining(",", "{\"o\":{", "}}"));
    assertThat(text.octet('}').toString().equals(kept)).isTrue();
    assertThat(body.jsonBytes()).isEqualTo(kept.getBytes(StandardCharsets.UTF_8).length);
    assertThat(body.rows()).isEqualTo(last.size());
    assertThat(body.leaves()).isSortedAccordingTo(Leaf.BY_PATH).hasSize(last.size());
  }

  @Test
  void the_empty_body_has_no_leaves() {
    assertThat(Bodies.explode("{}").leaves()).isEmpty();
    assertThat(Bodies.explode(" { } ").jsonBytes()).isEqualTo(2);
    assertThat(ExplodedBody.empty().jsonBytes()).isEqualTo(2);
    assertThat(ExplodedBody.empty().digest()).isEqualTo(Bodies.explode("{}").digest());
  }

  @Test
  void leaves_of_numbers_keep_their_kind() {
    assertThat(Bodies.roundTrip("{\"a\":[1,1.0,1e2,-0,-0.0,0e5,1E-7,100000000000000000000.0]}"))
        .isEqualTo("{\"a\":[1,1.0,100.0,0,0.0,0.0,1e-7,100000000000000000000.0]}");
  }

  @Test
  void empty_containers_come_back() {
    String json = "{\"\":{},\"0\":[],\"a\":[[],{},[[]],[{}],{\"b\":{}}]}";
    assertThat(Bodies.roundTrip(json)).isEqualTo(json);
  }

  @Test
  void long_arrays_come_back_in_their_order() {
    StringBuilder json = new StringBuilder("{\"a\":[0");
    for (int i = 1; i < 70_000; i++) {
      json.append(',').append(i);
    }
    json.append("]}");
    assertThat(Bodies.roundTrip(json.toString())).isEqualTo(json.toString());
  }

  @Provide
  Arbitrary<Map<String, Object>> objects() {
    return JsonModel.objects();
  }

  private static Map<String, Object> shuffled(Map<String, Object> object, Random random) {
    List<String> names = new ArrayList<>(object.keySet());
    Collections.shuffle(names, random);
    Map<String, Object> shuffled = new LinkedHashMap<>();
    names.forEach(name -> shuffled.put(name, object.get(name)));
    return shuffled;
  }

  private static void collect(List<Object> path, Object value, List<byte[]> paths) {
    if (value instanceof Map<?, ?> map && !map.isEmpty()) {
      map.forEach((name, member) -> collect(longer(path, name), member, paths));
    } else if (value instanceof List<?> list && !list.isEmpty()) {
      for (int i = 0; i < list.size(); i++) {
        collect(longer(path, (long) i), list.get(i), paths);
      }
    } else {
      paths.add(com.apple.foundationdb.tuple.Tuple.fromList(path).pack());
    }
  }

  private static List<Object> longer(List<Object> path, Object element) {
    List<Object> longer = new ArrayList<>(path);
    longer.add(element);
    return longer;
  }
}
