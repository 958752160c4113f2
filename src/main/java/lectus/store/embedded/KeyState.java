package lectus.store.embedded;

import com.apple.foundationdb.MutationType;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import lectus.store.embedded.engine.commit.AtomicOperations;
import lectus.store.embedded.engine.commit.KeyRange;
import lectus.store.embedded.engine.commit.Mutation;

/**
 * A transaction's writes to one key, as a stack of operations. If the lowest is an atomic
 * operation, the key is <i>dependent</i> on the stored value, otherwise <i>independent</i> of it.
 */
final class KeyState {

  /**
   * @param type the atomic operation, or null for a plain value
   * @param operand its operand; for a plain value the value, or null if the key is cleared
   */
  record Operation(MutationType type, byte[] operand) {
    static Operation value(byte[] value) {
      return new Operation(null, value);
    }

    boolean isStamped() {
      return type == MutationType.SET_VERSIONSTAMPED_KEY
          || type == MutationType.SET_VERSIONSTAMPED_VALUE;
    }

    boolean isIndependent() {
      return type == null || isStamped();
    }
  }

  private Operation first;

  /** The operations above the first, or null: most keys are written once. */
  private List<Operation> above;

  private boolean unreadable;

  KeyState(Operation first, boolean unreadable) {
    this.first = first;
    this.unreadable = unreadable;
  }

  boolean isDependent() {
    return !first.isIndependent();
  }

  boolean isUnreadable() {
    return unreadable;
  }

  /** Adds an operation, merged with the one below it if possible. */
  void apply(Operation next) {
    unreadable |= next.isStamped();
    if (unreadable) {
      push(next);
    } else if (next.type == null) {
      first = next;
      above = null;
    } else {
      pushOrJoin(next);
    }
  }

  private void pushOrJoin(Operation next) {
    Operation top = above == null ? first : above.get(above.size() - 1);
    if (top.type == null) {
      replaceTop(Operation.value(AtomicOperations.apply(next.type, top.operand, next.operand)));
    } else if (top.type == next.type && joins(top, next)) {
      byte[] joined = AtomicOperations.apply(next.type, top.operand, next.operand);
      replaceTop(new Operation(next.type, joined));
    } else {
      push(next);
    }
  }

  private static boolean joins(Operation top, Operation next) {
    return switch (next.type) {
      case COMPARE_AND_CLEAR -> false;
      case AND, BIT_AND, BYTE_MIN, BYTE_MAX, APPEND_IF_FITS -> true;
      default -> top.operand.length == next.operand.length;
    };
  }

  private void push(Operation next) {
    if (above == null) {
      above = new ArrayList<>(2);
    }
    above.add(next);
  }

  private void replaceTop(Operation top) {
    if (above == null) {
      first = top;
    } else {
      above.set(above.size() - 1, top);
    }
  }

  /**
   * Returns the key's value over the stored one, or null if it is missing. An unreadable key
   * returns the raw operand, offset bytes included.
   */
  byte[] over(byte[] stored) {
    byte[] value = step(stored, first);
    if (above != null) {
      for (Operation operation : above) {
        value = step(value, operation);
      }
    }
    return value;
  }

  private static byte[] step(byte[] value, Operation operation) {
    return operation.isIndependent()
        ? operation.operand
        : AtomicOperations.apply(operation.type, value, operation.operand);
  }

  /** Emits the mutations that produce this state. */
  void mutations(byte[] key, Consumer<Mutation> to) {
    to.accept(mutation(key, first));
    if (above != null) {
      above.forEach(operation -> to.accept(mutation(key, operation)));
    }
  }

  private static Mutation mutation(byte[] key, Operation operation) {
    if (operation.type != null) {
      return new Mutation.Atomic(operation.type, key, operation.operand);
    }
    if (operation.operand == null) {
      return new Mutation.Clear(key, KeyRange.of(key).end());
    }
    return new Mutation.Set(key, operation.operand);
  }
}
