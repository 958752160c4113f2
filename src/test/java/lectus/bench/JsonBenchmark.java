package lectus.bench;

import com.fasterxml.jackson.core.JsonToken;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import lectus.json.ExplodedBody;
import lectus.json.JsonAssembler;
import lectus.json.JsonBuffer;
import lectus.json.JsonExploder;
import lectus.json.JsonInput;
import lectus.json.JsonLimits;
import lectus.json.Leaf;
import lectus.json.TupleWriter;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures exploding and assembling one document of about 300 bytes with 25 leaves, in
 * microseconds.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(1)
public class JsonBenchmark {
  private static final byte[] DOCUMENT =
      """
      {"type":"reading","station":"HEL-0042","at":1763722595,"ok":true,"note":null,
      "place":{"lat":60.17,"lon":24.94,"name":"Kaisaniemi"},"unit":"C","tags":["air","hourly","qc"],
      "values":[12.5,13,-4,0.25,7,8,9,10,11],"by":{"id":17,"name":"Aino","role":"op"},"v":3}
      """
          .getBytes(StandardCharsets.UTF_8);

  private final JsonLimits limits = JsonLimits.couchDb().withKeyOverhead(70);
  private final byte[] prefix = new byte[70];
  private final List<Leaf> stored = new ArrayList<>();
  private final JsonBuffer out = new JsonBuffer(512);

  public JsonBenchmark() {
    for (Leaf leaf : explode().leaves()) {
      byte[] key = TupleWriter.startingWith(prefix).raw(leaf.path()).toBytes();
      stored.add(new Leaf(key, leaf.value()));
    }
  }

  @Benchmark
  public final ExplodedBody explode() {
    try (JsonInput input = JsonInput.of(DOCUMENT)) {
      input.next();
      JsonExploder exploder = new JsonExploder(input, limits);
      while (input.next() == JsonToken.FIELD_NAME) {
        exploder.member(input.name());
      }
      input.expectEnd();
      return exploder.finish();
    }
  }

  /** Measures the parser's share of {@link #explode}. */
  @Benchmark
  public int tokens() {
    try (JsonInput input = JsonInput.of(DOCUMENT)) {
      int tokens = 0;
      while (input.next() != null) {
        tokens++;
      }
      return tokens;
    }
  }

  @Benchmark
  public int assemble() {
    JsonAssembler assembler = new JsonAssembler(out.truncate(0).octet('{'), false);
    for (int i = 0; i < stored.size(); i++) {
      Leaf leaf = stored.get(i);
      assembler.leaf(leaf.path(), prefix.length, leaf.value());
    }
    assembler.finish();
    return out.octet('}').length();
  }
}
