package lectus.store.testing;

import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.LongConsumer;
import lectus.store.embedded.engine.CommitReceipt;
import lectus.store.embedded.engine.CommitRequest;
import lectus.store.embedded.engine.Engine;
import lectus.store.embedded.engine.Snapshot;

/** An engine that commits otherwise than it was asked to: a planted bug, or a log that fails. */
public final class FaultyEngine implements Engine {
  private final Engine sound;
  private final BiFunction<Engine, CommitRequest, CompletableFuture<CommitReceipt>> commit;

  /**
   * @param commit what is done in place of a commit on the sound engine
   */
  public FaultyEngine(
      Engine sound, BiFunction<Engine, CommitRequest, CompletableFuture<CommitReceipt>> commit) {
    this.sound = sound;
    this.commit = commit;
  }

  @Override
  public CompletableFuture<CommitReceipt> commit(CommitRequest request) {
    return commit.apply(sound, request);
  }

  @Override
  public long readVersion() {
    return sound.readVersion();
  }

  @Override
  public Snapshot snapshot(long version) {
    return sound.snapshot(version);
  }

  @Override
  public Snapshot latest() {
    return sound.latest();
  }

  @Override
  public void onPublish(LongConsumer listener) {
    sound.onPublish(listener);
  }

  @Override
  public long estimatedSize(byte[] begin, byte[] end) {
    return sound.estimatedSize(begin, end);
  }

  @Override
  public void close() {
    sound.close();
  }
}
