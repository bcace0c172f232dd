import Foundation
import SettleTesting

extension TemporaryFolder {
    /// The path of something in the folder.
    func path(_ name: String) -> String { path + "/" + name }

    /// Copies an item as it is on the disk right now: what a killed process leaves.
    func copy(_ old: String, to new: String) throws {
        try FileManager.default.copyItem(atPath: path(old), toPath: path(new))
    }
}
