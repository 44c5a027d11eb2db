import Foundation

enum FileWriting {
    static func write(_ bytes: UnsafeRawBufferPointer, to path: String) -> Bool {
        FileManager.default.createFile(atPath: path, contents: Data(bytes))
    }
}
