package lectus.mango.selector;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.tuple.Tuple;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class SelectorNeedsTest {

  @Test
  void a_condition_on_a_scalar_reads_one_leaf() {
    assertThat(reads("{'type':'order'}")).containsExactly("LEAF (\"type\")");
    assertThat(reads("{'a.b':{'$lt':5}}")).containsExactly("LEAF (\"a\", \"b\")");
    assertThat(reads("{'a':{'$regex':'x'},'b':{'$mod':[2,1]}}"))
        .containsExactly("LEAF (\"a\")", "LEAF (\"b\")");
  }

  @Test
  void what_depends_on_the_type_reads_the_first_leaf_below() {
    assertThat(reads("{'a':{'$ne':5}}")).containsExactly("FIRST (\"a\")");
    assertThat(reads("{'a':{'$gt':5}}")).containsExactly("FIRST (\"a\")");
    assertThat(reads("{'a':{'$exists':true}}")).containsExactly("TYPE (\"a\")");
    assertThat(reads("{'a':{'$not':{'$regex':'x'}}}")).containsExactly("FIRST (\"a\")");
  }

  @Test
  void of_a_long_string_the_type_reads_no_more_than_its_beginning() {
    assertThat(reads("{'a':{'$type':'string'},'b':{'$exists':true}}"))
        .containsExactly("TYPE (\"a\")", "TYPE (\"b\")");
    assertThat(reads("{'a':{'$type':'string','$regex':'x'}}")).containsExactly("FIRST (\"a\")");
    assertThat(reads("{'a':{'$type':'string','$ne':'x'}}")).containsExactly("FIRST (\"a\")");
    assertThat(reads("{'a':{'$type':'array','$size':1}}")).containsExactly("ALL (\"a\")");
  }

  @Test
  void a_missing_field_is_sought_with_what_is_above_it() {
    assertThat(reads("{'a.b':{'$exists':false}}"))
        .containsExactly("TYPE (\"a\")", "TYPE (\"a\", \"b\")");
  }

  @Test
  void containers_are_read_whole_and_once() {
    assertThat(reads("{'a':{'$size':2},'a.b':1,'ab':1}"))
        .containsExactly("ALL (\"a\")", "LEAF (\"ab\")");
    assertThat(reads("{'a':{'$in':[1]}}")).containsExactly("ALL (\"a\")");
    assertThat(reads("{'a':[]}")).containsExactly("LEAF (\"a\")");
    assertThat(reads("{'a':[1]}")).containsExactly("ALL (\"a\")");
  }

  @Test
  void a_number_is_a_member_or_a_position() {
    assertThat(reads("{'a.0':1}")).containsExactly("LEAF (\"a\", \"0\")", "LEAF (\"a\", 0)");
  }

  @Test
  void only_a_condition_without_a_field_reads_the_whole_document() {
    assertThat(reads("{'$and':[{'$type':'object'},{'a':1}]}")).containsExactly("ALL ()");
    assertThat(reads("{}")).isEmpty();
  }

  @Test
  void many_fields_are_read_as_the_whole_document() {
    String most =
        IntStream.range(0, SelectorNeeds.MAX_READS)
            .mapToObj(i -> "'f" + i + "':1")
            .collect(Collectors.joining(",", "{", "}"));
    assertThat(reads(most)).hasSize(SelectorNeeds.MAX_READS).allMatch(it -> it.startsWith("LEAF"));
    assertThat(reads(most.replace("}", ",'_id':'a'}"))).containsExactly("ALL ()");
  }

  private static List<String> reads(String selector) {
    return Documents.selector(selector).reads().stream()
        .map(read -> read.extent() + " " + Tuple.fromBytes(read.path()))
        .toList();
  }
}
