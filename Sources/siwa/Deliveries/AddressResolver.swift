import Dispatch
import EventDelivery
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Finds the addresses of a host name.
protocol AddressResolver: Sendable {
    /// Returns every address, as text; none for a name without addresses.
    ///
    /// - Throws: `DeliveryError` `timed_out`.
    func addresses(of host: String) async throws(DeliveryError) -> [String]
}

/// Asks the system. Each question has a thread of its own, and a name is asked for once at a time, so that a
/// name server that hangs delays the receivers of its names only.
final class SystemAddressResolver: AddressResolver {
    /// A question can take longer in the background. Until it ends, its name is not asked for again.
    static let timeLimit = DispatchTimeInterval.seconds(4)

    private let queue = DispatchQueue(label: "siwa.names", attributes: .concurrent)
    private let asked = Mutex<Set<String>>([])

    func addresses(of host: String) async throws(DeliveryError) -> [String] {
        guard asked.withLock({ $0.insert(host).inserted }) else { throw DeliveryError(.timedOut) }
        let found: [String]? = await withCheckedContinuation { continuation in
            let answer = FirstAnswer(continuation)
            queue.async {
                let addresses = Self.lookUp(host)
                _ = self.asked.withLock { $0.remove(host) }
                answer.give(addresses)
            }
            queue.asyncAfter(deadline: .now() + Self.timeLimit) { answer.give(nil) }
        }
        guard let found else { throw DeliveryError(.timedOut) }
        return found
    }

    private static func lookUp(_ host: String) -> [String] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        // The kind of socket keeps each address from coming three times.
        #if canImport(Glibc)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = Int32(SOCK_STREAM)
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0, let first = list else { return [] }
        defer { freeaddrinfo(first) }
        var addresses: [String] = []
        var next: UnsafeMutablePointer<addrinfo>? = first
        while let entry = next {
            // An address of IPv6 with the name of an interface has at most 62 characters.
            let size = 128
            var text = [CChar](repeating: 0, count: size)
            let status = getnameinfo(
                entry.pointee.ai_addr, entry.pointee.ai_addrlen, &text, socklen_t(size), nil, 0,
                NI_NUMERICHOST)
            if status == 0 {
                let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
                addresses.append(String(decoding: bytes, as: UTF8.self))
            }
            next = entry.pointee.ai_next
        }
        return addresses
    }
}

/// Takes the first of two answers.
private final class FirstAnswer: Sendable {
    private let waiting: Mutex<CheckedContinuation<[String]?, Never>?>

    init(_ continuation: CheckedContinuation<[String]?, Never>) {
        waiting = Mutex(continuation)
    }

    func give(_ addresses: [String]?) {
        let continuation = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        continuation?.resume(returning: addresses)
    }
}
