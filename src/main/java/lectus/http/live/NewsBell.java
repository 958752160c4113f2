package lectus.http.live;

import io.vertx.core.Context;
import java.util.concurrent.atomic.AtomicBoolean;
import lectus.feed.LiveSource;
import lectus.feed.Registration;
import lectus.http.exchange.Offload;

/**
 * Tells an event loop that a source may have news: once, however often it rings, until somebody
 * looks.
 */
final class NewsBell implements LiveSource.Listener {
  private final Context context;
  private final Runnable ring;
  private final AtomicBoolean told = new AtomicBoolean();
  private Registration registration = () -> {};

  NewsBell(Context context, Runnable ring) {
    this.context = context;
    this.ring = ring;
  }

  void hangUpAt(LiveSource<?> source) {
    registration = source.listen(this);
  }

  void takeDown() {
    registration.close();
  }

  @Override
  public void told() {
    if (told.compareAndSet(false, true)) {
      Offload.post(context, ring);
    }
  }

  /** Whether it rang since the last look. */
  boolean look() {
    return told.getAndSet(false);
  }
}
