import Foundation
import Settle

let database = try Database.inMemory()
let folder = FileManager.default.temporaryDirectory.appending(path: "settle-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

// From data.
var holiday = Document(id: "holiday")
let photo = Data(repeating: 7, count: 1000)
holiday.attach(try database.makeAttachment("beach.jpg", contentType: "image/jpeg", content: photo))
holiday = try database.save(holiday, onConflict: .fail)

// From a file, piece by piece. The closure may end it: this one does when the task is cancelled.
let movie = folder.appending(path: "movie.mp4")
try Data(repeating: 1, count: 1_000_000).write(to: movie)
let attachment = try database.makeAttachment("movie.mp4", contentType: "video/mp4", file: movie) { done, total in
    try Task.checkCancellation()
    print("\(100 * done / total) %")
}
holiday.attach(attachment)
holiday = try database.save(holiday, onConflict: .fail)

// From something else that gives it in pieces.
let writer = try database.attachmentWriter(contentType: "audio/mp4")
for piece: [UInt8] in [[1, 2, 3], [4, 5]] { try writer.write(piece) }
holiday.attach(try writer.finish(name: "waves.m4a"))
holiday = try database.save(holiday, onConflict: .fail)

// To memory, to a file, and piece by piece.
if let beach = holiday.attachment("beach.jpg") { print(Data(try database.content(of: beach)) == photo) }
if let movie = holiday.attachment("movie.mp4") { try database.write(movie, to: folder.appending(path: "copy.mp4")) }
if let waves = holiday.attachment("waves.m4a") {
    let reader = try database.attachmentReader(for: waves)
    while let piece = try reader.read() { print(piece.count) }
}
