package lectus.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import lectus.tuple.MalformedTupleException;
import lectus.tuple.TupleWriter;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class JsonAssemblerTest {
  private static final byte[] ONE = new TupleWriter(16).integer(1).toBytes();

  @Test
  void any_subset_of_the_leaves_is_written_without_padding() {
    List<Leaf> leaves = Bodies.explode("{\"a\":[0,{\"b\":1,\"c\":[2,3]},[4],5],\"d\":6}").leaves();
    assertThat(subset(leaves, 0, 3, 5, 6)).isEqualTo("{\"a\":[0,{\"c\":[3]},5],\"d\":6}");
    assertThat(subset(leaves, 4)).isEqualTo("{\"a\":[[4]]}");
    assertThat(subset(leaves, 2, 4)).isEqualTo("{\"a\":[{\"c\":[2]},[4]]}");
    assertThat(subset(leaves)).isEqualTo("{}");
  }

  @Property(tries = 1000)
  void every_subset_is_json(@ForAll("objects") Map<String, Object> object, @ForAll Random random) {
    List<Leaf> some = new ArrayList<>();
    for (Leaf leaf : Bodies.explode(JsonModel.write(object, random)).leaves()) {
      if (random.nextBoolean()) {
        some.add(leaf);
      }
    }
    byte[] json = Bodies.assemble(some).toBytes();
    assertThat(JsonModel.write(JsonModel.read(json), new Random(1))).isNotEmpty();
    assertThat(Bodies.explode(json, JsonLimits.couchDb()).leaves()).hasSameSizeAs(some);
  }

  @Property(tries = 1000)
  void keys_are_read_behind_their_prefix(
      @ForAll("objects") Map<String, Object> object, @ForAll byte[] prefix) {
    List<Leaf> leaves = Bodies.explode(JsonModel.write(object, new Random(1))).leaves();
    JsonBuffer out = new JsonBuffer(16).octet('{');
    JsonAssembler assembler = new JsonAssembler(out, false);
    for (Leaf leaf : leaves) {
      byte[] key = TupleWriter.startingWith(prefix).raw(leaf.path()).toBytes();
      assembler.leaf(key, prefix.length, leaf.value());
    }
    assembler.finish();
    assertThat(out.octet('}').toString()).isEqualTo(Bodies.assemble(leaves).toString());
  }

  @Test
  void members_go_between_those_of_the_caller() {
    JsonBuffer out = new JsonBuffer(16).ascii("{\"_id\":\"x\"");
    JsonAssembler assembler = new JsonAssembler(out, true);
    Bodies.explode("{\"a\":{\"b\":1}}")
        .leaves()
        .forEach(leaf -> assembler.leaf(leaf.path(), 0, leaf.value()));
    assembler.finish();
    assertThat(out.ascii(",\"_z\":1}").toString())
        .isEqualTo("{\"_id\":\"x\",\"a\":{\"b\":1},\"_z\":1}");
  }

  @Test
  void whether_a_comma_is_needed_is_told_at_any_time() {
    JsonAssembler fresh = new JsonAssembler(new JsonBuffer(16), false);
    fresh.finish();
    assertThat(fresh.needsComma()).isFalse();
    fresh.leaf(path("a"), 0, ONE);
    fresh.finish();
    assertThat(fresh.needsComma()).isTrue();
    assertThat(new JsonAssembler(new JsonBuffer(16), true).needsComma()).isTrue();
  }

  @Test
  void names_that_begin_like_others_do_not_share_their_containers() {
    String json = "{\"a\":{\"b\":1},\"a\\u0000\":{\"b\":2},\"a\\u0000b\":3,\"ab\":{\"b\":4}}";
    assertThat(Bodies.roundTrip(json)).isEqualTo(json);
    String nested = "{\"x\":{\"\":{\"\":1},\"\\u0000\":{\"\":2}}}";
    assertThat(Bodies.roundTrip(nested)).isEqualTo(nested);
  }

  @Test
  void damaged_paths_are_malformed() {
    assertMalformed(new byte[0], ONE);
    assertMalformed(new byte[] {2, 'a'}, ONE);
    assertMalformed(new byte[] {0x14}, ONE);
    assertMalformed(new byte[] {2, 'a', 0, 0x13, 0}, ONE);
    assertMalformed(new byte[] {2, 'a', 0, 0x16, 1}, ONE);
    assertMalformed(new byte[] {2, 'a', 0, 0x21}, ONE);
  }

  @Test
  void damaged_values_are_malformed() {
    assertMalformed(path("a"), new byte[0]);
    assertMalformed(path("a"), new byte[] {0x15});
    assertMalformed(path("a"), new byte[] {0x15, 1, 1});
    assertMalformed(path("a"), new byte[] {2, 'a'});
    assertMalformed(path("a"), new byte[] {2, 'a', 0, 'b'});
    assertMalformed(path("a"), new byte[] {0x21, 0, 0});
    assertMalformed(path("a"), new byte[] {0x42});
    assertMalformed(path("a"), new byte[] {0x27, 0x27});
  }

  @Test
  void leaves_that_cannot_stand_together_are_malformed() {
    JsonAssembler assembler = new JsonAssembler(new JsonBuffer(16), false);
    assembler.leaf(path("a", "b"), 0, ONE);
    assertThatThrownBy(() -> assembler.leaf(path("a"), 0, ONE))
        .isInstanceOf(MalformedTupleException.class);
    JsonAssembler mixed = new JsonAssembler(new JsonBuffer(16), false);
    mixed.leaf(path("a", "b"), 0, ONE);
    byte[] position = new TupleWriter(16).string("a").integer(0).toBytes();
    assertThatThrownBy(() -> mixed.leaf(position, 0, ONE))
        .isInstanceOf(MalformedTupleException.class);
  }

  @Provide
  Arbitrary<Map<String, Object>> objects() {
    return JsonModel.objects();
  }

  private static void assertMalformed(byte[] path, byte[] value) {
    JsonAssembler assembler = new JsonAssembler(new JsonBuffer(16), false);
    assertThatThrownBy(() -> assembler.leaf(path, 0, value))
        .as(new String(path, StandardCharsets.ISO_8859_1))
        .isInstanceOf(MalformedTupleException.class);
  }

  private static byte[] path(String... names) {
    TupleWriter path = new TupleWriter(16);
    for (String name : names) {
      path.string(name);
    }
    return path.toBytes();
  }

  private static String subset(List<Leaf> leaves, int... chosen) {
    List<Leaf> some = new ArrayList<>();
    for (int i : chosen) {
      some.add(leaves.get(i));
    }
    return Bodies.assemble(some).toString();
  }
}
