package lectus.store.embedded.engine;

import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import lectus.store.embedded.engine.EngineOptions.Durability;
import lectus.store.embedded.engine.EngineOptions.EngineTimer;

/** Changes of an engine's options that only tests make ({@link EngineOptions#with}). */
public final class TestOptions {
  private TestOptions() {}

  /**
   * @param micros since 1970
   */
  public static Consumer<EngineOptions> clock(LongSupplier micros) {
    return it -> it.microClock = micros;
  }

  static Consumer<EngineOptions> threads(Executor executor, EngineTimer timer) {
    return it -> {
      it.executor = executor;
      it.timer = timer;
    };
  }

  static Consumer<EngineOptions> groups(int transactions, long bytes) {
    return it -> {
      it.groupTransactions = transactions;
      it.groupBytes = bytes;
    };
  }

  /** For a crash test, which cuts the log at its synced length. */
  static Consumer<EngineOptions> trackedLog(Durability durability) {
    return it -> {
      it.durability = durability;
      it.tracksSyncedLog = true;
    };
  }
}
