package lectus.json;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import com.fasterxml.jackson.core.JsonToken;
import java.nio.charset.StandardCharsets;
import lectus.error.LectusError;
import lectus.error.LectusException;
import org.assertj.core.api.AbstractStringAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Explodes and reassembles whole bodies, as the document package does. */
final class Bodies {
  private Bodies() {}

  static ExplodedBody explode(String json) {
    return explode(json, JsonLimits.couchDb());
  }

  static ExplodedBody explode(String json, JsonLimits limits) {
    return explode(json.getBytes(StandardCharsets.UTF_8), limits);
  }

  static ExplodedBody explode(byte[] json, JsonLimits limits) {
    try (JsonInput input = JsonInput.of(json)) {
      input.next();
      JsonExploder exploder = new JsonExploder(input, limits);
      while (input.next() == JsonToken.FIELD_NAME) {
        exploder.member(input.name());
      }
      input.expectEnd();
      return exploder.finish();
    }
  }

  static JsonBuffer assemble(Iterable<Leaf> leaves) {
    JsonBuffer out = new JsonBuffer(16).octet('{');
    JsonAssembler assembler = new JsonAssembler(out, false);
    leaves.forEach(leaf -> assembler.leaf(leaf.path(), 0, leaf.value()));
    assembler.finish();
    return out.octet('}');
  }

  /** Returns the reassembled body. */
  static String roundTrip(String json) {
    return assemble(explode(json).leaves()).toString();
  }

  static AbstractStringAssert<?> assertTooLarge(ThrowingCallable call) {
    return assertError(call, LectusError.TooLarge.class, "document_too_large");
  }

  static AbstractStringAssert<?> assertBadRequest(ThrowingCallable call) {
    return assertError(call, LectusError.BadRequest.class, "bad_request");
  }

  private static AbstractStringAssert<?> assertError(
      ThrowingCallable call, Class<? extends LectusError> variant, String error) {
    return assertThatThrownBy(call)
        .asInstanceOf(type(LectusException.class))
        .extracting(LectusException::error)
        .isInstanceOf(variant)
        .satisfies(
            value -> org.assertj.core.api.Assertions.assertThat(value.error()).isEqualTo(error))
        .extracting(LectusError::reason)
        .asString();
  }
}
