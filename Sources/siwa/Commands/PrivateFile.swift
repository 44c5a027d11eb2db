import Foundation

/// A new file that its owner alone can read, from its first instant: one that is made and then restricted can be opened by
/// others in between, and stays open to them.
enum PrivateFile {
    /// Never touches a file that is there. Throws `CocoaError` `.fileWriteFileExists`, or another when it cannot be made or
    /// written.
    static func make(at path: String, content: Data) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CocoaError(errno == EEXIST ? .fileWriteFileExists : .fileWriteUnknown)
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try handle.write(contentsOf: content)
            try handle.synchronize()
            try handle.close()
        } catch {
            // Half a file would be taken for a whole one at the next start.
            try? FileManager.default.removeItem(atPath: path)
            throw error
        }
    }
}
