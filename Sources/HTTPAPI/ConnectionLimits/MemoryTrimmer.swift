import NIOCore
import NIOPosix
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Gives memory back to the system that glibc's allocator keeps when a crowd of connections has gone.
///
/// The allocator gives back by itself what is free at the end of a heap; anything that is still in use behind it holds
/// all the rest. Other C libraries do not have the call, and need it less.
final class MemoryTrimmer: Sendable {
    private typealias Trim = @convention(c) @Sendable (_ bytesToKeep: Int) -> Int32

    /// So that a crowd that goes one by one costs one call, which takes milliseconds on a thread of its own.
    private static let delay = TimeAmount.seconds(5)
    /// By its name, because Swift's module of glibc leaves out the header that has it.
    private static let trim = dlsym(nil, "malloc_trim").map { unsafeBitCast($0, to: Trim.self) }

    private let isScheduled = Atomic<Bool>(false)

    func schedule() {
        guard let trim = Self.trim,
            isScheduled.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
        else { return }
        MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: Self.delay) {
            NIOThreadPool.singleton.submit { _ in
                self.isScheduled.store(false, ordering: .relaxed)
                _ = trim(0)
            }
        }
    }
}
