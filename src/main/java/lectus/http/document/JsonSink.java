package lectus.http.document;

import io.vertx.core.Future;
import io.vertx.core.http.HttpHeaders;
import java.util.function.Supplier;
import lectus.document.edit.ArrivingJson;
import lectus.document.edit.SentJson;
import lectus.http.exchange.BodySink;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.FlowingBody;
import lectus.http.exchange.Requests;
import lectus.http.limits.BodyMemory;

/** The body of a request that writes documents. A long one is taken apart while it arrives. */
final class JsonSink implements BodySink<SentJson> {
  /** Shorter bodies are held: that takes fewer steps. */
  private static final int LONG_BYTES = 1 << 20;

  private final ArrivingJson json;
  private final long limit;
  private final long mostHeld;
  private long length;

  /**
   * @param limit of the whole body, in bytes
   * @param mostHeld bytes of JSON that are held
   */
  private JsonSink(ArrivingJson json, long limit, long mostHeld) {
    this.json = json;
    this.limit = limit;
    this.mostHeld = mostHeld;
  }

  /**
   * Reads the body of a request.
   *
   * @return fails as {@link UnzippedSink#read}; {@code too_large} (413)
   */
  static Future<SentJson> read(Exchange exchange, Supplier<ArrivingJson> arriving) {
    long limit = FlowingBody.limit(exchange);
    long mostHeld = FlowingBody.mostBytes(exchange);
    long announced = FlowingBody.announced(exchange);
    boolean isPlain = exchange.header(HttpHeaders.CONTENT_ENCODING) == null;
    if (isPlain && announced >= 0 && announced <= Math.min(LONG_BYTES, mostHeld)) {
      return exchange.body().map(SentJson::of);
    }
    return UnzippedSink.read(exchange, limit, new JsonSink(arriving.get(), limit, mostHeld));
  }

  @Override
  public void take(byte[] bytes) {
    length += bytes.length;
    require(length, limit);
    json.take(bytes, 0, bytes.length);
    require(json.heldBytes(), mostHeld);
  }

  private static void require(long bytes, long most) {
    if (bytes > most) {
      throw Requests.tooLarge(most);
    }
  }

  @Override
  public Held held() {
    long most = json.mostHeldBytes() < mostHeld ? json.mostHeldBytes() : BodyMemory.UNKNOWN;
    return new Held(json.heldBytes(), most, json.passingBytes());
  }

  @Override
  public void relieve() {
    json.relieve();
  }

  @Override
  public SentJson end() {
    return json.end();
  }

  @Override
  public void abandon() {
    json.abandon();
  }
}
