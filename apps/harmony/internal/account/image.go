package account

import (
	"slices"
	"strings"
	"time"

	"prompthub/internal/storage/table"
)

// ImagesHead is the row that heads the pictures of a member.
const ImagesHead = "!images"

// An Image is a picture of a member.
type Image struct {
	ID, UserID    string
	Order         int
	UploadedAt    time.Time
	Width, Height int
	Bytes         int
}

// imagePath is where the doors serve pictures of members.
const imagePath = "/api/v1/images/profile/"

// URL is where the picture is served, and ThumbURL a small one.
func (i Image) URL() string { return imagePath + i.UserID + "/" + i.ID + ".jpg" }

// ThumbURL is where the small picture is served.
func (i Image) ThumbURL() string { return imagePath + i.UserID + "/" + i.ID + ThumbSuffix }

// ThumbSuffix ends the names of small files.
const ThumbSuffix = "_320.jpg"

// Blobs returns the names of the two files of a picture.
func (i Image) Blobs() []string {
	return []string{i.UserID + "/" + i.ID + ".jpg", i.UserID + "/" + i.ID + ThumbSuffix}
}

// Row returns what is stored of the picture.
func (i Image) Row() table.Row {
	return table.Row{Key: table.Key{Partition: i.UserID, Row: i.ID}, Props: table.Props{
		{Name: "BlobUrl", Value: table.String(i.Blobs()[0])},
		{Name: "OrderIndex", Value: table.Int32(int32(i.Order))},
		{Name: "UploadedAt", Value: table.Time(i.UploadedAt)},
		{Name: "Width", Value: table.Int32(int32(i.Width))},
		{Name: "Height", Value: table.Int32(int32(i.Height))},
		{Name: "Bytes", Value: table.Int32(int32(i.Bytes))},
	}}
}

// Images are the pictures of a member in order, and the version of their head.
type Images struct {
	All     []Image
	Version int64
	Head    string // its ETag, "" if there is none
}

// First returns the address of the first picture, "" if there is none.
func (all Images) First() string {
	if len(all.All) == 0 {
		return ""
	}
	return all.All[0].URL()
}

// ParseImages reads the pictures of a member from their rows.
func ParseImages(user string, rows []table.Row) (all Images) {
	for _, row := range rows {
		p := row.Props
		if row.Key.Row == ImagesHead {
			all.Head, all.Version = row.ETag, p.Get("Version").Int()
			continue
		}
		all.All = append(all.All, Image{
			ID: row.Key.Row, UserID: user, Order: int(p.Get("OrderIndex").Int()),
			UploadedAt: p.Get("UploadedAt").Time(),
			Width:      int(p.Get("Width").Int()), Height: int(p.Get("Height").Int()), Bytes: int(p.Get("Bytes").Int()),
		})
	}
	slices.SortFunc(all.All, func(a, b Image) int { return a.Order - b.Order })
	return all
}

// CutImage returns the id in the name of a file of a picture, "" if it has none, and which of the
// two files it is.
func CutImage(file string) (id string, n int) {
	if id, ok := strings.CutSuffix(file, ThumbSuffix); ok {
		return id, 1
	}
	id, ok := strings.CutSuffix(file, ".jpg")
	if !ok {
		return "", 0
	}
	return id, 0
}
