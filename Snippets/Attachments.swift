import Settle

let database = try Database.inMemory()
var document = Document(id: "holiday")

let writer = try database.attachmentWriter(contentType: "video/mp4")
for piece: [UInt8] in [[1, 2, 3], [4, 5]] { try writer.write(piece) }
document.attach(try writer.finish(name: "holiday.mp4"))
document = try database.save(document, onConflict: .fail)

if let video = document.attachment("holiday.mp4") {
    let reader = try database.attachmentReader(for: video)
    while let piece = try reader.read() { print(piece.count) }
}
