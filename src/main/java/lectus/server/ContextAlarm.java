package lectus.server;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import java.time.Duration;
import lectus.changes.notify.Alarm;

/** An alarm on one event loop, in whole milliseconds. */
public final class ContextAlarm implements Alarm {
  private final Vertx vertx;
  private final Context context;

  public ContextAlarm(Vertx vertx) {
    this.vertx = vertx;
    this.context = vertx.getOrCreateContext();
  }

  @Override
  public void in(Duration delay, Runnable task) {
    context.runOnContext(
        none -> {
          if (delay.isZero()) {
            task.run();
          } else {
            vertx.setTimer(Math.max(1, delay.toMillis()), fired -> task.run());
          }
        });
  }
}
