import Foundation
import KeySets
import Testing

@Suite struct PinnedKeySetTests {
    @Test func `has the keys of its file`() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(SampleKeySet.body(["A", "B"])).write(to: file)
        let keys = try PinnedKeySet(file: file.path)
        #expect(keys.cachedKey(for: "A") != nil)
        #expect(try await keys.key(for: "B") === keys.cachedKey(for: "B"))
        #expect(keys.health.status == .ready)
        #expect(keys.health.keyCount == 2)
        #expect(keys.cachedKey(for: "C") == nil)
        await #expect(throws: KeySetError(.unknownKey)) { try await keys.key(for: "C") }
    }

    @Test(arguments: [
        ([], PinnedKeySetError.Code.empty), (Array("<html>".utf8), .malformed),
        (Array(#"{"keys":[]}"#.utf8), .noUsableKey), (SampleKeySet.withoutUsableKey, .noUsableKey),
        ([UInt8](repeating: 0x20, count: 65_537), .tooLarge),
    ])
    func `refuses content without a usable key`(content: [UInt8], code: PinnedKeySetError.Code) throws {
        #expect(throws: PinnedKeySetError(code)) { try PinnedKeySet(parsing: content) }
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(content).write(to: file)
        #expect(throws: PinnedKeySetError(code)) { try PinnedKeySet(file: file.path) }
    }

    @Test(arguments: [
        ("/nowhere/keys.json", PinnedKeySetError.Code.unreadable), ("", .unreadable), ("/", .unreadable),
        ("/dev/null", .empty), ("/dev/zero", .tooLarge),
    ])
    func `refuses a path that is not a key set file`(path: String, code: PinnedKeySetError.Code) {
        #expect(throws: PinnedKeySetError(code)) { try PinnedKeySet(file: path) }
    }
}
